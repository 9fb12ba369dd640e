import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { compareDefinitions, lostVersions } from '../../shared/kube/definition-fields.ts';
import { find } from '../../shared/kube/find.ts';
import { property, text } from '../../shared/kube/list.ts';
import {
  addressOf,
  describe,
  InstallFault,
  isDefinition,
  nameOf,
  resourceFor,
} from './manifest.ts';
import { owned, widened } from './rights.ts';

/** What became of one object. */
export interface Applied {
  /** e.g. `CustomResourceDefinition nodepools.karpenter.sh` */
  readonly object: string;
  readonly outcome: 'applied' | 'kept-newer' | 'left-to-auto-mode';
  /** Field managers that owned fields of it before. */
  readonly takenOverFrom: readonly string[];
}

export interface ApplyOptions {
  readonly client: KubeClient;
  readonly manifests: readonly object[];
  readonly isAutoMode: boolean;
}

const AUTO_MODE_GROUP = 'karpenter.sh';
const POLL_MS = 500;
const ESTABLISHED_POLLS_MAX = 60;
const EFFECTIVE_POLLS_MAX = 40;

/**
 * As the cluster's admin: definitions, rights and flow schemas, in the order of the manifests. Rights
 * that are there and not ours stay until all is settled. May be repeated at any time.
 */
export async function applyAll(options: ApplyOptions): Promise<readonly Applied[]> {
  const { client, manifests } = options;
  const applied: Applied[] = [];
  for (const manifest of manifests) applied.push(await applyOne(options, manifest));
  for (const manifest of manifests) {
    if (isDefinition(manifest)) await untilEstablished(client, nameOf(manifest));
  }
  const bindings = manifests.filter((each) => resourceFor(each) === RESOURCES.clusterRoleBindings);
  for (const binding of bindings) await untilEffective(client, binding, manifests);
  return applied;
}

async function applyOne({ client, isAutoMode }: ApplyOptions, manifest: object): Promise<Applied> {
  const resource = resourceFor(manifest);
  const existing = await find(client, resource, addressOf(manifest));
  const object = describe(manifest);
  if (existing !== undefined && isDefinition(manifest)) {
    const group = property(property(manifest, 'spec'), 'group');
    if (isAutoMode && group === AUTO_MODE_GROUP) {
      return { object, outcome: 'left-to-auto-mode', takenOverFrom: [] };
    }
    if (isNewer(manifest, existing)) return { object, outcome: 'kept-newer', takenOverFrom: [] };
  }
  const wanted = await owned(client, widened(manifest, existing));
  await client.apply(resource, addressOf(manifest), wanted);
  return { object, outcome: 'applied', takenOverFrom: otherManagers(client.name, existing) };
}

/** Whether the cluster's definition has all that ours has, and more. */
function isNewer(ours: object, theirs: unknown): boolean {
  const name = nameOf(ours);
  const { missing, extra } = compareDefinitions(ours, theirs);
  if (extra.length > 0 && missing.length === 0) return true;
  if (extra.length > 0) {
    throw new InstallFault(
      `the CRD ${name} in the cluster has fields that Joiner does not know (${some(extra)}) and ` +
        `lacks fields that Joiner needs (${some(missing)}). Bring it to the newest version of ` +
        'its owner, or delete it where nothing uses it, and deploy again',
    );
  }
  const lost = lostVersions(ours, theirs);
  if (lost.length > 0) {
    throw new InstallFault(
      `the CRD ${name} holds objects stored as ${lost.join(', ')}, which Joiner does not know. ` +
        'Write each of them anew in the current version (kubectl get … -o yaml | kubectl ' +
        'replace -f -), take the version out of status.storedVersions, and deploy again',
    );
  }
  return false;
}

function some(fields: readonly string[]): string {
  const shown = fields.slice(0, 5).join(', ');
  return fields.length > 5 ? `${shown} and ${fields.length - 5} more` : shown;
}

/** Controllers write status; whoever owns anything else is who installed it before. */
function otherManagers(self: string, existing: unknown): readonly string[] {
  const entries = property(property(existing, 'metadata'), 'managedFields');
  const names = (Array.isArray(entries) ? entries : [])
    .filter((entry: unknown) => property(entry, 'subresource') !== 'status')
    .map((entry: unknown) => text(property(entry, 'manager')))
    .filter((manager) => manager !== self);
  return [...new Set(names)].sort();
}

async function untilEstablished(client: KubeClient, name: string): Promise<void> {
  for (let polls = 0; polls < ESTABLISHED_POLLS_MAX; polls += 1) {
    const crd = await client.get(RESOURCES.customResourceDefinitions, { name });
    const conditions = property(property(crd, 'status'), 'conditions');
    const isEstablished = (Array.isArray(conditions) ? conditions : []).some(
      (each: unknown) =>
        property(each, 'type') === 'Established' && property(each, 'status') === 'True',
    );
    if (isEstablished) return;
    await client.timing.sleep(POLL_MS);
  }
  throw new InstallFault(`the CRD ${name} was applied but is not Established after 30 s`);
}

/** Asks the API server whether whoever a role is bound to may do what its last rule says. */
async function untilEffective(
  client: KubeClient,
  binding: object,
  manifests: readonly object[],
): Promise<void> {
  const role = manifests.find(
    (each) => resourceFor(each) === RESOURCES.clusterRoles && nameOf(each) === nameOf(binding),
  );
  const resourceAttributes = firstRight(arrayOf(role, 'rules').at(-1));
  const groups = arrayOf(binding, 'subjects').map((each) => text(property(each, 'name')));
  for (let polls = 0; polls < EFFECTIVE_POLLS_MAX; polls += 1) {
    const review = await client.json({
      asked: { verb: 'create', resource: 'subjectaccessreviews' },
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user: 'joiner', groups, resourceAttributes },
      },
    });
    if (property(property(review, 'status'), 'allowed') === true) return;
    await client.timing.sleep(POLL_MS);
  }
  throw new InstallFault(
    `the rights of the group ${groups.join()} were applied but have no effect after 20 s`,
  );
}

/** What a SubjectAccessReview asks of a rule. */
function firstRight(rule: unknown): Readonly<Record<string, string>> {
  const first = (name: string): string => text(arrayOf(rule, name)[0]);
  const [resource = '', subresource = ''] = first('resources').split('/');
  const name = first('resourceNames');
  return { group: first('apiGroups'), resource, subresource, name, verb: first('verbs') };
}

function arrayOf(object: unknown, name: string): readonly unknown[] {
  const list = property(object, name);
  return Array.isArray(list) ? list : [];
}
