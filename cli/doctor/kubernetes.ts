import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';
import type { Decoded } from '../../shared/api/issue.ts';
import { kindDecoders } from '../../shared/api/kinds.ts';
import { decodePauses, PAUSES_CONFIG_MAP } from '../../shared/api/pauses.ts';
import { RESOURCES, type Resource, resourceOf } from '../../shared/api/resources.ts';
import type { NodeClass } from '../../shared/core/model/node-class.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { find } from '../../shared/kube/find.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';
import { serverFacts } from '../connect.ts';
import { lastSigns } from '../release/alive.ts';
import type { Kubernetes, RightsObject } from './facts.ts';

/** What the cluster has of Joiner. */
export async function kubernetesFacts(client: KubeClient): Promise<Kubernetes> {
  const { gitVersion, nowMs } = await serverFacts(client);
  const definitions = await listAll(client, RESOURCES.customResourceDefinitions);
  return {
    version: gitVersion,
    nowMs,
    definitions: new Map(definitions.map((each) => [nameOf(each), each])),
    rights: await rightsOf(client),
    signs: await lastSigns(client, nowMs),
    paused: decodePauses(await find(client, RESOURCES.configMaps, PAUSES_CONFIG_MAP)),
  };
}

/** Classes and pools of the cluster; those that cannot be decoded are told by other commands. */
export async function liveObjects(
  client: KubeClient,
): Promise<{ readonly classes: readonly NodeClass[]; readonly pools: readonly NodePool[] }> {
  const decoders = kindDecoders('server');
  return {
    classes: decoded(await listIfAny(client, RESOURCES.nodeClasses), decoders.EC2NodeClass),
    pools: decoded(await listIfAny(client, RESOURCES.nodePools), decoders.NodePool),
  };
}

export function decoded<Value>(
  objects: readonly unknown[],
  decode: (object: unknown) => Decoded<Value>,
): readonly Value[] {
  return objects.flatMap((object) => {
    const result = decode(object);
    return result.ok ? [result.value] : [];
  });
}

const APPLIED = ['rbac', 'flow-control'].map((name) =>
  join(import.meta.dirname, '../../infra', name),
);

/** Rights and flow schemas as the installer applies them. */
function appliedDocuments() {
  return APPLIED.flatMap((folder) =>
    readdirSync(folder)
      .filter((file) => file.endsWith('.yaml'))
      .sort()
      .flatMap((file) => [...parseAllDocuments(readFileSync(join(folder, file), 'utf8'))]),
  );
}

/** What the installer applies, laid beside what is there. */
async function rightsOf(client: KubeClient): Promise<readonly RightsObject[]> {
  const found: RightsObject[] = [];
  for (const document of appliedDocuments()) {
    const ours: unknown = document.toJS();
    const resource = resourceOf(text(property(ours, 'apiVersion')), text(property(ours, 'kind')));
    if (resource === undefined) continue;
    const metadata = property(ours, 'metadata');
    const namespace = property(metadata, 'namespace');
    const address = { name: nameOf(ours), ...(namespace ? { namespace: text(namespace) } : {}) };
    const theirs = await find(client, resource, address);
    const object = `${resource.kind} ${[namespace, address.name].filter(Boolean).join('/')}`;
    found.push({ object, state: theirs === undefined ? 'absent' : compared(ours, theirs) });
  }
  return found;
}

/** The fields that say who may do what, and what waits where; the API server fills in nothing there. */
function compared(ours: unknown, theirs: unknown): 'same' | 'different' {
  const isSame = ['rules', 'roleRef', 'spec'].every((field) =>
    isDeepStrictEqual(property(ours, field), property(theirs, field)),
  );
  const groups = (object: unknown): readonly string[] => {
    const subjects = property(object, 'subjects');
    return (Array.isArray(subjects) ? subjects : []).map((each) => text(property(each, 'name')));
  };
  return isSame && isDeepStrictEqual(groups(ours), groups(theirs)) ? 'same' : 'different';
}

async function listIfAny(client: KubeClient, resource: Resource): Promise<readonly unknown[]> {
  try {
    return await listAll(client, resource);
  } catch (error) {
    if (isKubeFault(error, 'notFound')) return [];
    throw error;
  }
}

async function listAll(client: KubeClient, resource: Resource): Promise<readonly unknown[]> {
  let found: unknown[] = [];
  const start = (): void => {
    found = [];
  };
  await listEach(client, { resource }, { start, object: (each) => void found.push(each) });
  return found;
}

function nameOf(object: unknown): string {
  return text(property(property(object, 'metadata'), 'name'));
}
