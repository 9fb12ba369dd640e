import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { find } from '../../shared/kube/find.ts';
import { property, text } from '../../shared/kube/list.ts';
import type { PauseData } from '../pauses.ts';

/** Who gets the cluster. */
export type Side = 'joiner' | 'karpenter';

/** A node as it was when the controllers changed. */
export interface NodeBefore {
  /** Of its NodeClaim. */
  readonly claim: string;
  /** Empty: it was not launched yet. */
  readonly instance: string;
  readonly isDrifted: boolean;
}

/** How far a hand-over has come; it is kept in the cluster, so that anybody can continue it. */
export interface HandoverRecord {
  readonly to: Side;
  /** `done`: the side has the cluster, and what was paused has been resumed. */
  readonly state: 'under-way' | 'done';
  readonly startedAt: string;
  /** The pauses before the hand-over, which are written back at its end. */
  readonly pauses: PauseData;
  /** Karpenter's Deployment, and how many replicas it had. */
  readonly karpenter?: {
    readonly namespace: string;
    readonly name: string;
    readonly replicas: number;
  };
  /** Undefined: the old controller has not stopped yet. */
  readonly nodes?: readonly NodeBefore[];
}

export const RECORD_CONFIG_MAP = { namespace: 'kube-system', name: 'joiner-handover' };

/** A ConfigMap holds 1 MiB; a node takes about 40 bytes. */
const NODES_BYTES_MAX = 900_000;

function nodesText(nodes: readonly NodeBefore[]): string {
  return nodes
    .map(({ claim, instance, isDrifted }) => [claim, instance || '-', isDrifted ? 'drifted' : ''])
    .map((words) => words.join(' ').trim())
    .sort()
    .join('\n');
}

function nodesOf(lines: string): readonly NodeBefore[] {
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [claim = '', instance = '', drifted] = line.split(' ');
      return {
        claim,
        instance: instance === '-' ? '' : instance,
        isDrifted: drifted === 'drifted',
      };
    });
}

/** The ConfigMap's data. Throws where there are too many nodes for a ConfigMap. */
export function encodeRecord(record: HandoverRecord): Readonly<Record<string, string>> {
  const { to, state, startedAt, pauses, karpenter, nodes } = record;
  const lines = nodes === undefined ? undefined : nodesText(nodes);
  if (lines !== undefined && lines.length > NODES_BYTES_MAX) {
    throw new Error(`${nodes?.length} nodes are too many for one ConfigMap`);
  }
  return {
    to,
    state,
    startedAt,
    pauses: JSON.stringify(pauses),
    ...(karpenter === undefined
      ? {}
      : {
          karpenter: `${karpenter.namespace}/${karpenter.name}`,
          replicas: String(karpenter.replicas),
        }),
    ...(lines === undefined ? {} : { nodes: lines }),
  };
}

function pausesOf(json: string): PauseData {
  const value: unknown = JSON.parse(json);
  const pairs = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(
    pairs.map(([key, each]) => [key, typeof each === 'string' ? each : null]),
  );
}

/** Throws where somebody has changed the ConfigMap so that it cannot be read. */
export function decodeRecord(data: unknown): HandoverRecord {
  const at = (key: string): string => text(property(data, key));
  const to = at('to');
  const state = at('state');
  if ((to !== 'joiner' && to !== 'karpenter') || (state !== 'under-way' && state !== 'done')) {
    const { namespace, name } = RECORD_CONFIG_MAP;
    throw new Error(`ConfigMap ${namespace}/${name} cannot be read: delete it, and start again`);
  }
  const [namespace = '', name = ''] = at('karpenter').split('/');
  const nodes = property(data, 'nodes');
  return {
    to,
    state,
    startedAt: at('startedAt'),
    pauses: pausesOf(at('pauses') || '{}'),
    ...(name === '' ? {} : { karpenter: { namespace, name, replicas: Number(at('replicas')) } }),
    ...(typeof nodes === 'string' ? { nodes: nodesOf(nodes) } : {}),
  };
}

/** Undefined: no hand-over was ever begun, or it was ended. */
export async function readRecord(client: KubeClient): Promise<HandoverRecord | undefined> {
  const object = await find(client, RESOURCES.configMaps, RECORD_CONFIG_MAP);
  return object === undefined ? undefined : decodeRecord(property(object, 'data'));
}

/** Creates or replaces the record. */
export async function writeRecord(client: KubeClient, record: HandoverRecord): Promise<void> {
  const data = encodeRecord(record);
  const known = await find(client, RESOURCES.configMaps, RECORD_CONFIG_MAP);
  if (known === undefined) {
    const object = { metadata: RECORD_CONFIG_MAP, data };
    await client.create(RESOURCES.configMaps, object, RECORD_CONFIG_MAP.namespace);
    return;
  }
  // Keys that the record does not have any more are removed.
  const before = Object.keys(Object(property(known, 'data')));
  const gone = Object.fromEntries(before.map((key) => [key, null]));
  const value = { data: { ...gone, ...data } };
  await client.patch(RESOURCES.configMaps, RECORD_CONFIG_MAP, { kind: 'merge', value });
}
