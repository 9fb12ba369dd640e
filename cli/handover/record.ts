import { RESOURCES } from '../../shared/api/resources.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
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

/** Why the record has no room for these nodes; undefined: it has. */
export function whyNoRoom(nodes: readonly NodeBefore[]): string | undefined {
  if (nodesText(nodes).length <= NODES_BYTES_MAX) return undefined;
  return `${nodes.length} nodes are too many for one ConfigMap`;
}

/** The ConfigMap's data. Throws where there are too many nodes for a ConfigMap. */
export function encodeRecord(record: HandoverRecord): Readonly<Record<string, string>> {
  const { to, state, startedAt, pauses, karpenter, nodes } = record;
  const fault = nodes === undefined ? undefined : whyNoRoom(nodes);
  if (fault !== undefined) throw new Error(fault);
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
    ...(nodes === undefined ? {} : { nodes: nodesText(nodes) }),
  };
}

/** The advice is to mend it: without the record nobody knows what was paused before. */
function unreadable(key: string, value: string, valid: string): Error {
  const { namespace, name } = RECORD_CONFIG_MAP;
  return new Error(
    `ConfigMap ${namespace}/${name}, key ${key}: expected ${valid}, not ${JSON.stringify(value)}; ` +
      `correct it with kubectl -n ${namespace} edit configmap ${name}, and run the command again. ` +
      'Do not delete the ConfigMap: the pauses from before the hand-over are in it',
  );
}

function pausesOf(json: string): PauseData {
  const value = parsedJson(json);
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const pairs = isObject ? Object.entries(value) : [];
  const isPause = (each: unknown): boolean => each === null || typeof each === 'string';
  if (!isObject || !pairs.every(([, each]) => isPause(each))) {
    const valid = 'a JSON object of texts and null such as {"pause.launch":"on"}';
    throw unreadable('pauses', json, valid);
  }
  return Object.fromEntries(pairs);
}

/** Karpenter's Deployment in the record. Throws where it cannot be read. */
function karpenterIn(at: (key: string) => string): Pick<HandoverRecord, 'karpenter'> {
  const deployment = at('karpenter');
  if (deployment === '') return {};
  const [namespace = '', name = '', ...more] = deployment.split('/');
  if (namespace === '' || name === '' || more.length > 0) {
    throw unreadable('karpenter', deployment, 'NAMESPACE/NAME of a Deployment');
  }
  const replicas = at('replicas');
  if (!/^[1-9]\d*$/.test(replicas)) {
    throw unreadable('replicas', replicas, 'a number of replicas such as 2');
  }
  return { karpenter: { namespace, name, replicas: Number(replicas) } };
}

/** Throws where somebody has changed the ConfigMap so that it cannot be read. */
export function decodeRecord(data: unknown): HandoverRecord {
  const at = (key: string): string => text(property(data, key));
  const to = at('to');
  const state = at('state');
  if (to !== 'joiner' && to !== 'karpenter') throw unreadable('to', to, 'joiner or karpenter');
  if (state !== 'under-way' && state !== 'done') {
    throw unreadable('state', state, 'under-way or done');
  }
  const nodes = property(data, 'nodes');
  return {
    to,
    state,
    startedAt: at('startedAt'),
    pauses: pausesOf(at('pauses')),
    ...karpenterIn(at),
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
