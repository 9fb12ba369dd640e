import { define, NONE, text } from '../parameters.ts';

const about = {
  kind: text('what AWS says, such as spot_interrupted'),
  instance: text('the id of the instance'),
};

/** What `interrupt` does about messages of AWS, and which of them it does not believe. */
export const INTERRUPTION = {
  'instance-interrupted': define({
    meaning: 'AWS takes the instance back, or stops it. Its node is drained and replaced.',
    remedy: 'Nothing.',
    parameters: about,
    sentence: ({ kind, instance }) => `${kind} for instance ${instance}`,
  }),
  'interruption-unconfirmed': define({
    meaning: 'EC2 was asked and knows nothing of the warning: it is taken for a forged one.',
    remedy: 'Find out who writes to the interruption queue, if it was not AWS.',
    parameters: about,
    sentence: ({ kind, instance }) => `${kind} for instance ${instance}: EC2 knows nothing of it`,
  }),
  'interruption-throttled': define({
    meaning:
      'Nothing can confirm the message, and as many nodes of the NodePool have gone as may go so.',
    remedy: 'Wait: the message comes again.',
    parameters: about,
    sentence: ({ kind, instance }) =>
      `${kind} for instance ${instance}: too many unconfirmed interruptions in its NodePool`,
  }),
  'interruption-contradicted': define({
    meaning: 'EC2 says that the instance runs on, and had the time to know better.',
    remedy: 'Nothing. If there are many, find out who writes to the interruption queue.',
    parameters: about,
    sentence: ({ kind, instance }) => `${kind} for instance ${instance}: EC2 says otherwise`,
  }),
  'interruption-contradicted-early': define({
    meaning: 'EC2 says that the instance runs, but may not know of the message yet.',
    remedy: 'Wait: the message comes again.',
    parameters: about,
    sentence: ({ kind, instance }) =>
      `${kind} for instance ${instance}: EC2 says otherwise, but may be late`,
  }),
  'message-malformed': define({
    meaning: 'A message of the interruption queue is no event of AWS.',
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
    meaning: 'A message of the interruption queue is older than a day, or of the future.',
    remedy: 'Nothing: the instance that it is about is long gone.',
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
