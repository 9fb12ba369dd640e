import type { Tag } from '@aws-sdk/client-ec2';
import { FLEET, type Labels } from '../core/model/labels.ts';
import type { FleetRequest } from '../ports/cloud.ts';

/** As EC2 and IAM take them, in the order of their keys. */
export function tagsOf(labels: Labels): Tag[] {
  return Object.entries(labels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([Key, Value]) => ({ Key, Value }));
}

/** Tags of the template and of what hangs on it: those of one fleet alone are left out. */
export function templateTags(fleet: FleetRequest): Labels {
  const { [FLEET]: _, ...tags } = fleet.tags;
  return tags;
}
