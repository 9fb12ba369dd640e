import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { LaunchTemplate } from '@aws-sdk/client-ec2';
import { expect } from 'vitest';
import { RESOURCES, type Resource } from '../../../shared/api/resources.ts';
import { property, text, uidOf } from '../../../shared/kube/list.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import type { ModelProfile } from '../aws/model/iam.ts';
import { nameOf, runningPods } from '../closed-loop/questions.ts';
import { isStranger } from '../closed-loop/strangers.ts';
import type { ClosedLoop } from '../closed-loop/world.ts';
import { APPS, PODS } from './scenario.ts';

/** What Karpenter itself has left in a cluster and in an account: see {@link recordState}. */
export interface KarpenterState {
  /** The release that has made it. */
  readonly version: string;
  readonly nodeClasses: readonly object[];
  readonly nodePools: readonly object[];
  readonly nodeClaims: readonly object[];
  readonly nodes: readonly object[];
  readonly instances: readonly Omit<ModelInstance, 'template'>[];
  /** Names and tags of launch templates, without their contents. */
  readonly templates: readonly LaunchTemplate[];
  readonly profiles: readonly ModelProfile[];
}

const FOLDER = join(import.meta.dirname, 'states');

/** What the API server writes itself. */
const SERVERS = ['managedFields', 'resourceVersion', 'creationTimestamp', 'selfLink', 'generation'];

function cleaned(object: unknown): object {
  const all = Object(object) as Readonly<Record<string, unknown>>;
  const metadata = Object(all['metadata']) as Readonly<Record<string, unknown>>;
  const kept = Object.entries(metadata).filter(([key]) => !SERVERS.includes(key));
  return { ...all, metadata: Object.fromEntries(kept) };
}

function inOrder(objects: readonly unknown[]): readonly object[] {
  return objects.map(cleaned).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

/** Writes what Karpenter has made of the loop, as a file that {@link readState} reads. */
export async function recordState(loop: ClosedLoop, version: string): Promise<void> {
  const { account, profiles } = loop.cloud;
  const own = [...account.instances.values()].filter((each) => !isStranger(each));
  const nodes = (await loop.list(RESOURCES.nodes)).filter((node) =>
    own.some(({ id }) => text(property(property(node, 'spec'), 'providerID')).endsWith(id)),
  );
  const state: KarpenterState = {
    version,
    nodeClasses: inOrder(await loop.list(RESOURCES.nodeClasses)),
    nodePools: inOrder(await loop.list(RESOURCES.nodePools)),
    nodeClaims: inOrder(await loop.list(RESOURCES.nodeClaims)),
    nodes: inOrder(nodes),
    instances: own.map(({ template: _, ...each }) => each),
    templates: [...account.templates.values()].map(({ about }) => about),
    profiles: [...profiles.profiles.values()],
  };
  await mkdir(FOLDER, { recursive: true });
  const file = join(FOLDER, `${version}.json`);
  await writeFile(file, `${JSON.stringify(state, undefined, 1)}\n`);
}

const TIME = /"(\d{4}-\d{2}-\d{2}T[\d:.]+Z)"/g;

/** The text with all its times moved, so that the last of them is now. */
function untilNow(json: string, nowMs: number): string {
  const times = [...json.matchAll(TIME)].map(([, time = '']) => Date.parse(time));
  const movedMs = nowMs - Math.max(...times);
  return json.replace(TIME, (_, time: string) => {
    const moved = new Date(Date.parse(time) + movedMs).toISOString();
    return `"${time.includes('.') ? moved : moved.replace(/\.\d+/, '')}"`;
  });
}

/**
 * The state that a release has left a moment ago: a claim that has waited long for its node would
 * be given up.
 */
export async function readState(version: string): Promise<KarpenterState> {
  const json = await readFile(join(FOLDER, `${version}.json`), 'utf8');
  return JSON.parse(untilNow(json, Date.now())) as KarpenterState;
}

/** Objects by the uid that they had when they were recorded, with the one that they have now. */
type Uids = Map<string, string>;

function owned(object: object, uids: Uids): object {
  const metadata = Object(property(object, 'metadata')) as Readonly<Record<string, unknown>>;
  const { uid: _, deletionTimestamp: __, deletionGracePeriodSeconds: ___, ...rest } = metadata;
  const owners = rest['ownerReferences'];
  const ownerReferences = (Array.isArray(owners) ? owners : []).map((each: unknown) => ({
    ...Object(each),
    uid: uids.get(text(property(each, 'uid'))),
  }));
  return { ...object, metadata: { ...rest, ownerReferences } };
}

/** Creates the object with its status. */
async function restore(
  { admin }: ClosedLoop,
  resource: Resource,
  object: object,
  uids: Uids,
): Promise<void> {
  const made = await admin().create(resource, owned(object, uids));
  uids.set(text(property(property(object, 'metadata'), 'uid')), uidOf(made));
  const status = property(object, 'status');
  if (status === undefined) return;
  const value = { kind: 'merge', value: { status } } as const;
  await admin().patch(resource, { name: nameOf(object) }, value, 'status');
}

const DISRUPTED = 'karpenter.sh/disrupted';

function taintsOf(node: object): readonly unknown[] {
  const taints = property(property(node, 'spec'), 'taints');
  return Array.isArray(taints) ? taints : [];
}

/** A node on which pods may still be bound. */
function open(node: object): object {
  const taints = taintsOf(node).filter((each) => property(each, 'key') !== DISRUPTED);
  return { ...node, spec: { ...Object(property(node, 'spec')), taints } };
}

/** Has the loop look as Karpenter has left it: objects, instances, pods on their nodes. */
export async function restoreState(loop: ClosedLoop, state: KarpenterState): Promise<void> {
  const { account, profiles } = loop.cloud;
  for (const each of state.instances) account.instances.set(each.id, { ...each, template: {} });
  for (const about of state.templates) {
    account.templates.set(about.LaunchTemplateName ?? '', { about, data: {} });
  }
  for (const each of state.profiles) profiles.profiles.set(each.name, each);
  const uids: Uids = new Map();
  for (const each of state.nodeClasses) await restore(loop, RESOURCES.nodeClasses, each, uids);
  for (const each of state.nodePools) await restore(loop, RESOURCES.nodePools, each, uids);
  for (const each of state.nodeClaims) await restore(loop, RESOURCES.nodeClaims, each, uids);
  for (const each of state.nodes) await restore(loop, RESOURCES.nodes, open(each), uids);
  await loop.apply(APPS);
  await expect
    .poll(() => runningPods(loop), { timeout: 60_000, interval: 500 })
    .toBeGreaterThanOrEqual(PODS);
  for (const node of state.nodes) {
    const value = { spec: { taints: taintsOf(node) } };
    const address = { name: nameOf(node) };
    await loop.admin().patch(RESOURCES.nodes, address, { kind: 'merge', value });
  }
  for (const claim of state.nodeClaims) {
    if (property(property(claim, 'metadata'), 'deletionTimestamp') === undefined) continue;
    await loop.admin().delete(RESOURCES.nodeClaims, { name: nameOf(claim) }, {});
  }
}
