import { meant } from '../../shared/contract/nearest.ts';
import type { Sign } from './alive.ts';
import {
  claimOf,
  FINALIZERS,
  type Found,
  type Held,
  instanceOf,
  isOurClaim,
  isOurNode,
} from './objects.ts';

/** What is asked for: names of nodes or NodeClaims, or everything. */
export type Asked = { readonly names: readonly string[] } | 'all';

/** What is done once it is agreed to. */
export interface Release {
  /** Objects whose finalizer goes, in order: the node before its claim. */
  readonly objects: readonly Held[];
  /** Asked for by name, but nothing holds them. */
  readonly free: readonly Held[];
  /** Instances that stay, by the zone in which they are. */
  readonly instances: readonly Instance[];
  /** What was asked for and is not done, each with its reason. */
  readonly refusals: readonly string[];
}

export interface Instance {
  readonly id: string;
  readonly region: string;
}

/** What to do about the names; one that cannot be released makes that nothing is. */
export function planRelease(asked: Asked, found: Found): Release {
  const chosen = asked === 'all' ? everything(found) : named(asked.names, found);
  const objects = chosen.objects.filter(isHeld);
  const instances = new Map(objects.flatMap(instancesOf).map((each) => [each.id, each]));
  return {
    objects,
    free: asked === 'all' ? [] : chosen.objects.filter((each) => !isHeld(each)),
    instances: [...instances.values()].sort((a, b) => (a.id < b.id ? -1 : 1)),
    refusals: chosen.refusals,
  };
}

interface Chosen {
  readonly objects: readonly Held[];
  readonly refusals: readonly string[];
}

/** Classes too: their finalizer waits for somebody who removes their instance profile. */
function everything({ nodes, claims, classes }: Found): Chosen {
  const objects = [
    ...nodes.filter((node) => isOurNode(node, claims)),
    ...claims.filter(isOurClaim),
    ...classes,
  ];
  return { objects, refusals: [] };
}

function named(names: readonly string[], found: Found): Chosen {
  const objects: Held[] = [];
  const refusals: string[] = [];
  for (const name of [...new Set(names)]) {
    const picked = pick(name, found);
    if (typeof picked === 'string') refusals.push(picked);
    else objects.push(...picked.filter((each) => !objects.includes(each)));
  }
  return { objects, refusals };
}

/** A node and its claim, by the name of either; or why not. */
function pick(name: string, { nodes, claims }: Found): readonly Held[] | string {
  const node = nodes.find((each) => each.name === name);
  if (node !== undefined) {
    if (!isOurNode(node, claims)) {
      return `node/${name} was launched neither by Joiner nor by Karpenter: it is left alone`;
    }
    const claim = claimOf(node, claims);
    return claim === undefined ? [node] : [node, claim];
  }
  const claim = claims.find((each) => each.name === name);
  if (claim === undefined) {
    const near = meant(name, [...nodes, ...claims].map((each) => each.name).sort());
    return `${name}: there is no node and no NodeClaim of this name${near}`;
  }
  if (!isOurClaim(claim)) {
    return `nodeclaim/${name} is of EKS Auto Mode (${claim.classGroup}): it is left alone`;
  }
  return [...nodes.filter((each) => claimOf(each, claims) === claim), claim];
}

function isHeld({ kind, finalizers }: Held): boolean {
  return finalizers.includes(FINALIZERS[kind]);
}

function instancesOf(held: Held): readonly Instance[] {
  const id = instanceOf(held);
  const zone = /^aws:\/\/\/([a-z0-9-]+)\//.exec(held.providerId)?.[1] ?? '';
  return id === undefined ? [] : [{ id, region: regionOf(zone) }];
}

/** `eu-west-1a` and `us-west-2-lax-1a` are zones of `eu-west-1` and `us-west-2`. */
function regionOf(zone: string): string {
  return /^[a-z]{2}(-[a-z]+)+-\d/.exec(zone)?.[0] ?? zone;
}

/** Why nothing is released while somebody is there to do it properly. */
export function aliveRefusal(signs: readonly Sign[], nowMs: number): string | undefined {
  const [youngest] = signs;
  if (youngest === undefined) return undefined;
  const { who, lease, atMs } = youngest;
  const seconds = Math.max(0, Math.round((nowMs - atMs) / 1000));
  return (
    `${who} is alive: the Lease ${lease} was renewed ${seconds} s ago. It drains nodes and ` +
    'terminates their instances itself after kubectl delete; what it has begun would be cut off. If it is ' +
    'gone, wait until the Lease is older than 5 minutes; --force releases all the same'
  );
}

/** What a person has to know before: none of it is done by removing a finalizer. */
export function warnings({ objects, instances }: Release): readonly string[] {
  const lines: string[] = [];
  if (objects.some(({ kind }) => kind === 'Node')) {
    lines.push('pods are not drained: do that before with kubectl drain');
  }
  for (const region of [...new Set(instances.map((each) => each.region))]) {
    const ids = instances.filter((each) => each.region === region).map(({ id }) => id);
    lines.push(
      'instances are not terminated and go on costing: aws ec2 terminate-instances ' +
        `--region ${region} --instance-ids ${ids.join(' ')}`,
    );
  }
  if (objects.some(({ kind }) => kind === 'NodeClaim')) {
    lines.push(
      'Joiner or Karpenter, once it runs again, terminates instances whose NodeClaim was deleted',
    );
  }
  if (objects.some(({ kind }) => kind === 'EC2NodeClass')) {
    lines.push('instance profiles that Joiner made for EC2NodeClasses are not deleted');
  }
  return lines;
}

/** e.g. `node/ip-10-0-0-1` */
export function label({ kind, name }: Held): string {
  return `${kind.toLowerCase()}/${name}`;
}
