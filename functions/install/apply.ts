import { KUBERNETES_GROUP } from '../../shared/contract.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { compareDefinitions, lostVersions } from '../../shared/kube/definition-fields.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { find } from '../../shared/kube/find.ts';
import { property, text } from '../../shared/kube/list.ts';
import { type Address, RESOURCES, type Resource, resourceOf } from '../../shared/kube/resources.ts';

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

/** A refusal that a person has to do something about; the message says what. */
export class InstallFault extends Error {
  override readonly name = 'InstallFault';
}

const AUTO_MODE_GROUP = 'karpenter.sh';
const POLL_MS = 500;
const ESTABLISHED_POLLS_MAX = 60;
/** Access entries take effect some time after they were made. */
const ACCESS_POLLS_MAX = 180;
const EFFECTIVE_POLLS_MAX = 40;

/** Definitions and rights, in the order of the manifests; may be repeated at any time. */
export async function applyAll(options: ApplyOptions): Promise<readonly Applied[]> {
  const { client, manifests } = options;
  await untilAdmitted(client);
  const applied: Applied[] = [];
  for (const manifest of manifests) applied.push(await applyOne(options, manifest));
  for (const manifest of manifests) {
    if (property(manifest, 'kind') === 'CustomResourceDefinition') {
      await untilEstablished(client, nameOf(manifest));
    }
  }
  await untilEffective(client);
  return applied;
}

/** Rights only: definitions would take the users' NodePools and NodeClaims with them. */
export async function removeRights(
  client: KubeClient,
  manifests: readonly object[],
): Promise<readonly string[]> {
  const removed: string[] = [];
  for (const manifest of manifests.toReversed()) {
    const resource = resourceFor(manifest);
    if (resource === RESOURCES.customResourceDefinitions) continue;
    try {
      await client.delete(resource, addressOf(manifest), {});
      removed.push(describe(manifest));
    } catch (error) {
      if (!isKubeFault(error, 'notFound')) throw error;
    }
  }
  return removed;
}

/** What a person does where {@link removeRights} is not let in. */
export function removal(manifests: readonly object[]): string {
  const byNamespace = Map.groupBy(
    manifests.filter((each) => resourceFor(each) !== RESOURCES.customResourceDefinitions),
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

async function applyOne({ client, isAutoMode }: ApplyOptions, manifest: object): Promise<Applied> {
  const resource = resourceFor(manifest);
  const existing = await find(client, resource, addressOf(manifest));
  const object = describe(manifest);
  if (existing !== undefined && resource === RESOURCES.customResourceDefinitions) {
    const group = property(property(manifest, 'spec'), 'group');
    if (isAutoMode && group === AUTO_MODE_GROUP) {
      return { object, outcome: 'left-to-auto-mode', takenOverFrom: [] };
    }
    if (isNewer(manifest, existing)) return { object, outcome: 'kept-newer', takenOverFrom: [] };
  }
  await client.apply(resource, addressOf(manifest), manifest);
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

async function untilAdmitted(client: KubeClient): Promise<void> {
  for (let polls = 0; ; polls += 1) {
    try {
      await find(client, RESOURCES.customResourceDefinitions, { name: 'nodepools.karpenter.sh' });
      return;
    } catch (error) {
      const isRefused = isKubeFault(error, 'unauthorised') || isKubeFault(error, 'forbidden');
      if (!isRefused) throw error;
      if (polls >= ACCESS_POLLS_MAX) {
        throw new InstallFault(
          `the cluster does not let the installer in: ${error.message}. Its access entry has to ` +
            'be there (installerAccess: true, or -c installerAccess=true) for every change of ' +
            'definitions or rights',
          { cause: error },
        );
      }
      await client.timing.sleep(POLL_MS);
    }
  }
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

/** Asks the API server whether the functions' group may do what it needs most. */
async function untilEffective(client: KubeClient): Promise<void> {
  for (let polls = 0; polls < EFFECTIVE_POLLS_MAX; polls += 1) {
    const review = await client.json({
      asked: { verb: 'create', resource: 'subjectaccessreviews' },
      method: 'POST',
      path: '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      body: {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: {
          user: 'joiner',
          groups: [KUBERNETES_GROUP],
          resourceAttributes: { group: 'karpenter.sh', resource: 'nodeclaims', verb: 'create' },
        },
      },
    });
    if (property(property(review, 'status'), 'allowed') === true) return;
    await client.timing.sleep(POLL_MS);
  }
  throw new InstallFault(
    `the rights of the group ${KUBERNETES_GROUP} were applied but have no effect after 20 s`,
  );
}

function resourceFor(manifest: object): Resource {
  const [version, kind] = [
    text(property(manifest, 'apiVersion')),
    text(property(manifest, 'kind')),
  ];
  const resource = resourceOf(version, kind);
  if (resource === undefined) throw new Error(`no resource is known for ${version} ${kind}`);
  return resource;
}

function addressOf(manifest: object): Address {
  const namespace = property(property(manifest, 'metadata'), 'namespace');
  return { name: nameOf(manifest), ...(typeof namespace === 'string' ? { namespace } : {}) };
}

function nameOf(manifest: object): string {
  return text(property(property(manifest, 'metadata'), 'name'));
}

function describe(manifest: object): string {
  return `${text(property(manifest, 'kind'))} ${nameOf(manifest)}`;
}
