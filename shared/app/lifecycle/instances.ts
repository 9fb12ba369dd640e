import { isOurs } from '../../core/launch/node-classes.ts';
import { instanceIdOf } from '../../core/lifecycle/actions.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { Instance, Ports } from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import type { Pass } from './claim-steps.ts';

/**
 * Instances of claims which EC2 has, and does not list. Somebody has changed the tags by which it
 * lists them: taken as gone, their nodes would be given up as soon as they are not ready for a
 * moment, and they would run on and be paid for, with no claim that tells of them. Or they have
 * ended, and EC2 says why.
 */
async function unlisted(
  { compute }: Ports,
  claims: readonly NodeClaim[],
  listed: readonly Instance[],
): Promise<readonly Instance[]> {
  const there = new Set(listed.map(({ id }) => id));
  const missing = claims
    .flatMap(({ providerId }) => instanceIdOf(providerId) ?? [])
    .filter((id) => !there.has(id));
  if (missing.length === 0) return [];
  return await compute.describe(missing);
}

/** Nodes join and drain whether or not EC2 can be asked; undefined: it cannot. */
export async function listInstances(
  ports: Ports,
  { state, nowMs, memory: { instances: kept } }: Pick<Pass, 'state' | 'nowMs' | 'memory'>,
  failures: Failure[],
): Promise<readonly Instance[] | undefined> {
  const ours = state.objects.nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  let instances = kept.current(ours, nowMs);
  if (instances !== undefined) return instances;
  const list = async (): Promise<void> => {
    const listed = await ports.compute.list();
    instances = [...listed, ...(await unlisted(ports, ours, listed))];
    kept.note(instances, nowMs);
  };
  failures.push(...(await attempt('instances', list)));
  return instances;
}
