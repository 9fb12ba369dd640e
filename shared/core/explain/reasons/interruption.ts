import { define, NONE, text } from '../parameters.ts';

const about = {
  kind: text('the kind of interruption, such as spot_interrupted'),
  instance: text('the id of the instance'),
};

/** What `interrupt` does about interruption messages, and which ones it rejects. */
export const INTERRUPTION = {
  'instance-interrupted': define({
    meaning: 'AWS interrupts, stops or terminates the instance. Its node is drained and replaced.',
    remedy: 'Nothing.',
    parameters: about,
    sentence: ({ kind, instance }) => `${kind} for instance ${instance}`,
  }),
  'interruption-unconfirmed': define({
    meaning: 'EC2 does not confirm the warning, so Joiner treats it as forged.',
    remedy: 'Find out who writes to the interruption queue, if it was not AWS.',
    parameters: about,
    sentence: ({ kind, instance }) =>
      `${kind} for instance ${instance}: EC2 does not confirm the warning`,
  }),
  'interruption-throttled': define({
    meaning:
      'The message cannot be confirmed, and the maximum number of nodes was deleted for such messages.',
    remedy: 'Wait: SQS delivers the message again.',
    parameters: about,
    sentence: ({ kind, instance }) =>
      `${kind} for instance ${instance}: too many unconfirmed interruptions in its NodePool`,
  }),
  'interruption-contradicted': define({
    meaning:
      'EC2 reports that the instance is running, and enough time has passed to update its state.',
    remedy: 'Nothing. If there are many, find out who writes to the interruption queue.',
    parameters: about,
    sentence: ({ kind, instance }) => `${kind} for instance ${instance}: EC2 reports another state`,
  }),
  'interruption-contradicted-early': define({
    meaning: 'EC2 reports that the instance is running, but the state may be outdated.',
    remedy: 'Wait: SQS delivers the message again.',
    parameters: about,
    sentence: ({ kind, instance }) =>
      `${kind} for instance ${instance}: EC2 reports another state; its answer may be outdated`,
  }),
  'message-malformed': define({
    meaning: 'A message of the interruption queue is not an event of AWS.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
    sentence: () => 'a message of the interruption queue cannot be read',
  }),
  'message-of-other-account': define({
    meaning: 'A message of the interruption queue names another AWS account.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
    sentence: () => 'a message of the interruption queue is of another account',
  }),
  'message-of-other-region': define({
    meaning: 'A message of the interruption queue names another region.',
    remedy: 'Check the EventBridge rules that write to the interruption queue.',
    parameters: NONE,
    sentence: () => 'a message of the interruption queue is of another region',
  }),
  'message-too-large': define({
    meaning: 'A message of the interruption queue is larger than EventBridge allows.',
    remedy: 'Find out who writes to the interruption queue.',
    parameters: NONE,
    sentence: () => 'a message of the interruption queue is too large',
  }),
  'message-stale': define({
    meaning:
      'A message of the interruption queue is older than a day, or its time is in the future.',
    remedy: 'Nothing: the instance no longer exists.',
    parameters: NONE,
    sentence: () => 'a message of the interruption queue is out of date',
  }),
  'probe-answered': define({
    meaning: 'An event of `joiner doctor --probe` has arrived.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'a probe has come through its rule and the queue',
  }),
} as const;
