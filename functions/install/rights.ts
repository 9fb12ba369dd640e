import { isDeepStrictEqual } from 'node:util';
import { apiVersion, RESOURCES } from '../../shared/api/resources.ts';
import { kubernetesGroup } from '../../shared/contract.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { compareDefinitions } from '../../shared/kube/definition-fields.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { find } from '../../shared/kube/find.ts';
import { property, text, uidOf } from '../../shared/kube/list.ts';
import { addressOf, describe, isDefinition, isRole, nameOf, resourceFor } from './manifest.ts';

/** The installer's own rights, by which it takes all others back. */
const OWN = kubernetesGroup('install');

/** What older versions had instead of a role for each function. */
const REPLACED: readonly object[] = [
  ['ClusterRoleBinding'],
  ['ClusterRole'],
  ['RoleBinding', 'kube-system'],
  ['Role', 'kube-system'],
].map(([kind, namespace]) => ({
  apiVersion: apiVersion(RESOURCES.roles),
  kind,
  metadata: { name: 'joiner:controller', ...(namespace === undefined ? {} : { namespace }) },
}));

/**
 * The rules of ours and what else is there: a function of the version before still runs while the
 * rights of the next one are applied. {@link settleRights} takes the rest back.
 */
export function widened(ours: object, theirs: unknown): object {
  if (!isRole(ours) || theirs === undefined) return ours;
  const rules = rulesOf(ours);
  const more = rulesOf(theirs).filter(
    (rule) => !rules.some((each) => isDeepStrictEqual(each, rule)),
  );
  return more.length === 0 ? ours : { ...ours, rules: [...rules, ...more] };
}

/**
 * Exactly our rules, and nothing of older versions or of what is unwanted; to be done when no
 * function needs more.
 */
export async function settleRights(
  client: KubeClient,
  manifests: readonly object[],
  unwanted: readonly object[],
): Promise<readonly string[]> {
  for (const role of manifests.filter(isRole)) {
    await client.apply(resourceFor(role), addressOf(role), await owned(client, role));
  }
  const others = unwanted.filter((each) => !isDefinition(each)).toReversed();
  return await removeAll(client, [...others, ...REPLACED]);
}

/**
 * With its owner: what names the installer's rights is removed by Kubernetes once they are gone,
 * since the installer itself may not do so any more.
 */
export async function owned(client: KubeClient, manifest: object): Promise<object> {
  if (!isOwned(manifest)) return manifest;
  const role = RESOURCES.clusterRoles;
  const uid = uidOf(await client.get(role, { name: OWN }));
  const owner = { apiVersion: apiVersion(role), kind: role.kind, name: OWN, uid };
  const metadata = { ...Object(property(manifest, 'metadata')), ownerReferences: [owner] };
  return { ...manifest, metadata };
}

function isOwn(manifest: object): boolean {
  return nameOf(manifest) === OWN;
}

function isOwned(manifest: object): boolean {
  return isOwn(manifest) && resourceFor(manifest) !== RESOURCES.clusterRoles;
}

/** Definitions stay: they would take the users' NodePools and NodeClaims with them. */
export async function removeRights(
  client: KubeClient,
  manifests: readonly object[],
): Promise<readonly string[]> {
  const ours = manifests.filter((each) => !isDefinition(each));
  const others = ours.filter((each) => !isOwn(each)).toReversed();
  const last = ours.filter((each) => isOwn(each) && !isOwned(each));
  return await removeAll(client, [...others, ...last]);
}

async function removeAll(
  client: KubeClient,
  objects: readonly object[],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const each of objects) {
    try {
      await client.delete(resourceFor(each), addressOf(each), {});
      removed.push(describe(each));
    } catch (error) {
      if (!isKubeFault(error, 'notFound')) throw error;
    }
  }
  return removed;
}

/** What a person does where {@link removeRights} is not let in. */
export function removal(manifests: readonly object[]): string {
  const byNamespace = Map.groupBy(
    manifests.filter((each) => !isDefinition(each)),
    (each) => addressOf(each).namespace,
  );
  return [...byNamespace]
    .map(([namespace, ours]) => {
      const names = ours.map((each) => {
        return `${text(property(each, 'kind')).toLowerCase()}/${nameOf(each)}`;
      });
      const scope = namespace === undefined ? '' : ` -n ${namespace}`;
      return `kubectl${scope} delete --ignore-not-found ${names.join(' ')}`;
    })
    .join(' && ');
}

/** What the functions would lack in the cluster as it is, each thing by itself. */
export async function lacking(
  client: KubeClient,
  manifests: readonly object[],
): Promise<readonly string[]> {
  const lacks: string[] = [];
  for (const manifest of manifests) {
    // Requests are answered without one, only later when the server is busy.
    if (resourceFor(manifest) === RESOURCES.flowSchemas) continue;
    const theirs = await find(client, resourceFor(manifest), addressOf(manifest));
    const what = lackOf(manifest, theirs);
    if (what !== undefined) lacks.push(`${describe(manifest)} ${what}`);
  }
  return lacks;
}

function lackOf(ours: object, theirs: unknown): string | undefined {
  if (theirs === undefined) return 'is absent';
  if (isDefinition(ours)) {
    const { missing } = compareDefinitions(ours, theirs);
    return missing.length === 0 ? undefined : `lacks ${missing.slice(0, 5).join(', ')}`;
  }
  if (isRole(ours)) {
    const has = rulesOf(theirs).flatMap(rightsIn);
    const rights = rulesOf(ours).flatMap(rightsIn);
    const missing = rights.filter((each) => !has.some((right) => isWithin(each, right)));
    return missing.length === 0 ? undefined : `lacks ${missing.slice(0, 5).map(shown).join(', ')}`;
  }
  const subjects = new Set(namesIn(property(theirs, 'subjects')));
  const isBound =
    isDeepStrictEqual(property(ours, 'roleRef'), property(theirs, 'roleRef')) &&
    namesIn(property(ours, 'subjects')).every((each) => subjects.has(each));
  return isBound ? undefined : 'binds others';
}

interface Right {
  readonly group: string;
  readonly resource: string;
  /** Empty: any. */
  readonly name: string;
  readonly verb: string;
}

function rightsIn(rule: unknown): readonly Right[] {
  const names = texts(rule, 'resourceNames');
  return texts(rule, 'apiGroups').flatMap((group) =>
    texts(rule, 'resources').flatMap((resource) =>
      (names.length === 0 ? [''] : names).flatMap((name) =>
        texts(rule, 'verbs').map((verb) => ({ group, resource, name, verb })),
      ),
    ),
  );
}

function isWithin(right: Right, other: Right): boolean {
  const { group, resource, name, verb } = other;
  const isSame = group === right.group && resource === right.resource && verb === right.verb;
  return isSame && (name === '' || name === right.name);
}

function shown({ group, resource, name, verb }: Right): string {
  const of = [resource, group].filter((part) => part !== '').join('.');
  return `${verb} ${of}${name === '' ? '' : `/${name}`}`;
}

function rulesOf(role: unknown): readonly unknown[] {
  const rules = property(role, 'rules');
  return Array.isArray(rules) ? rules : [];
}

function texts(object: unknown, name: string): readonly string[] {
  const list = property(object, name);
  return (Array.isArray(list) ? list : []).map(text);
}

function namesIn(subjects: unknown): readonly string[] {
  const list = Array.isArray(subjects) ? subjects : [];
  return list.map((each) => text(property(each, 'name')));
}
