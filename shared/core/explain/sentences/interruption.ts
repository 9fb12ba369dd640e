import type { Sentences } from '../parameters.ts';
import type { INTERRUPTION } from '../reasons/interruption.ts';

export const INTERRUPTION_SENTENCES: Sentences<typeof INTERRUPTION> = {
  'instance-interrupted': ({ kind, instance }) => `${kind} for instance ${instance}`,
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
