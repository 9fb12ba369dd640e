import { because, type Definitions, NONE, type Sentences, STATE_REASON } from '../parameters.ts';

const about = {
  kind: { type: 'text', what: 'the kind of interruption, such as spot_interrupted' },
  instance: { type: 'text', what: 'the id of the instance' },
} as const;

/** What `interrupt` does about interruption messages, and which ones it rejects. */
export const INTERRUPTION = {
  'instance-interrupted': {
    meaning: 'AWS interrupts, stops or terminates the instance. Its node is drained and replaced.',
    remedy: 'Nothing.',
    parameters: { ...about, cause: STATE_REASON },
  },
  'interruption-unconfirmed': {
    meaning:
      'EC2 did not confirm the warning within seconds, and the maximum number of nodes of the ' +
      'NodePool was deleted for such warnings. Joiner drops the message.',
    remedy:
      'Check the instance. If AWS did not interrupt it, find out who writes to the interruption queue.',
    parameters: about,
  },
  'interruption-throttled': {
    meaning:
      'The message cannot be confirmed, and the maximum number of nodes was deleted for such messages.',
    remedy: 'Wait: SQS delivers the message again.',
    parameters: about,
  },
  'interruption-contradicted': {
    meaning:
      'EC2 reports that the instance is running, and enough time has passed to update its state.',
    remedy: 'Nothing. If there are many, find out who writes to the interruption queue.',
    parameters: about,
  },
  'interruption-contradicted-early': {
    meaning: 'EC2 reports that the instance is running, but the state may be outdated.',
    remedy: 'Wait: SQS delivers the message again.',
    parameters: about,
  },
  'message-malformed': {
    meaning: 'A message of the interruption queue is not an event of AWS.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
  },
  'message-of-other-account': {
    meaning: 'A message of the interruption queue names another AWS account.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
  },
  'message-of-other-region': {
    meaning: 'A message of the interruption queue names another region.',
    remedy: 'Check the EventBridge rules that write to the interruption queue.',
    parameters: NONE,
  },
  'message-too-large': {
    meaning: 'A message of the interruption queue is larger than EventBridge allows.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
  },
  'message-stale': {
    meaning:
      'A message of the interruption queue is older than a day, or its time is in the future.',
    remedy: 'Nothing: the instance no longer exists.',
    parameters: NONE,
  },
  'probe-answered': {
    meaning: 'An event of `joiner doctor --probe` has arrived.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
} as const satisfies Definitions;

export const INTERRUPTION_SENTENCES: Sentences<typeof INTERRUPTION> = {
  'instance-interrupted': ({ kind, instance, cause }) =>
    `${kind} for instance ${instance}${because(cause)}`,
  'interruption-unconfirmed': ({ kind, instance }) =>
    `${kind} for instance ${instance}: EC2 does not confirm the warning`,
  'interruption-throttled': ({ kind, instance }) =>
    `${kind} for instance ${instance}: too many unconfirmed interruptions in its NodePool`,
  'interruption-contradicted': ({ kind, instance }) =>
    `${kind} for instance ${instance}: EC2 reports another state`,
  'interruption-contradicted-early': ({ kind, instance }) =>
    `${kind} for instance ${instance}: EC2 reports another state; its answer may be outdated`,
  'message-malformed': () => 'a message of the interruption queue cannot be read',
  'message-of-other-account': () => 'a message of the interruption queue is of another account',
  'message-of-other-region': () => 'a message of the interruption queue is of another region',
  'message-too-large': () => 'a message of the interruption queue is too large',
  'message-stale': () => 'a message of the interruption queue is out of date',
  'probe-answered': () => 'the probe of joiner doctor arrived',
};
