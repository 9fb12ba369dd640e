import type { Sentences } from '../parameters.ts';
import type { DRIFT } from '../reasons/drift.ts';

export const DRIFT_SENTENCES: Sentences<typeof DRIFT> = {
  'nodepool-template-changed': ({ nodePool: name }) =>
    `The template of NodePool ${name} has changed`,
  'requirements-changed': ({ nodePool: name, key, value }) =>
    `NodePool ${name} does not allow ${key}=${value} any more`,
  'instance-type-withdrawn': ({ instanceType, zone }) =>
    `${instanceType} is not offered in ${zone} any more`,
  'nodeclass-changed': ({ nodeClass: name }) => `EC2NodeClass ${name} has changed`,
  'image-changed': ({ nodeClass: name, selected, image }) =>
    `EC2NodeClass ${name} selects ${selected}, not ${image}`,
  'security-groups-changed': ({ nodeClass: name, had }) =>
    `EC2NodeClass ${name} selects other security groups than ${had}`,
  'subnet-deselected': ({ nodeClass: name, subnet }) =>
    `EC2NodeClass ${name} does not select ${subnet} any more`,
  'reservation-deselected': ({ nodeClass: name, reservation }) =>
    `EC2NodeClass ${name} does not select ${reservation} any more`,
};
