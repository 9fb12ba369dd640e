import { RESOURCES } from '../../shared/api/resources.ts';
import { type ClusterAccess, isOpen } from '../../shared/aws/cluster-access.ts';
import { BUCKET_LAYOUT, SETTINGS_CONFIG_MAP } from '../../shared/contract.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isKubeFault } from '../../shared/kube/errors.ts';
import { isAdmin } from './admission.ts';
import type { Answer, Put } from './answer.ts';
import { sendAnswer } from './answer.ts';
import { type Applied, applyAll } from './apply.ts';
import { clusterFault } from './check.ts';
import type { InstallCloud } from './cloud.ts';
import { InstallFault, isDefinition, isOfShadow } from './manifest.ts';
import {
  countNodes,
  countUnattended,
  destroyRefusal,
  roleRefusal,
  rolesLost,
  shadowRefusal,
} from './nodes.ts';
import { decodeRequest, type InstallRequest } from './request.ts';
import { lacking, removal, removeRights, settleRights } from './rights.ts';

/** Everything that the installer touches, so that tests can stand in for it. */
export interface InstallPorts {
  readonly region: string;
  readonly cloud: InstallCloud;
  /** As the installer's role, which the stack makes the admin for a while; closed after use. */
  readonly connect: (cluster: string, facts: ClusterAccess) => KubeClient;
  readonly manifests: readonly object[];
  readonly put: Put;
  readonly sleep: (ms: number) => Promise<void>;
  readonly log: (line: Readonly<Record<string, unknown>>) => void;
}

/** An answer has to leave this long before Lambda ends the run. */
const ANSWER_MS = 15_000;

/** Does what CloudFormation asks and answers it, in time and whatever happens. */
export async function install(
  ports: InstallPorts,
  event: unknown,
  remainingMs: number,
): Promise<Answer> {
  const decoded = decodeRequest(event);
  const answerTo = decoded.ok ? decoded.request : decoded.answerTo;
  const answer: Answer = decoded.ok
    ? await inTime(work(ports, decoded.request), remainingMs - ANSWER_MS)
    : { status: 'FAILED', reason: `Joiner: ${decoded.message}` };
  const { status, reason } = answer;
  ports.log({ message: 'answer', resource: answerTo.logicalResourceId, status, reason });
  await sendAnswer(answerTo, answer, ports.put, ports.sleep);
  return answer;
}

async function work(ports: InstallPorts, request: InstallRequest): Promise<Answer> {
  try {
    const reason = await STEPS[request.step](ports, request);
    return { status: 'SUCCESS', reason };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    // What cannot be taken back must not keep a stack from going, except the users' own data and
    // nodes that nobody would drain any more.
    const isKeeping = request.step === 'data' || request.step === 'nodes';
    if (request.type === 'Delete' && !isKeeping) {
      ports.log({ message: 'left behind', step: request.step, reason: message });
      const by = `take it away with: ${removal(ports.manifests)}`;
      return { status: 'SUCCESS', reason: `rights are left behind, ${by}; why: ${message}` };
    }
    return { status: 'FAILED', reason: `Joiner: ${message}` };
  }
}

async function inTime(working: Promise<Answer>, ms: number): Promise<Answer> {
  const { promise, resolve } = Promise.withResolvers<Answer>();
  const late: Answer = {
    status: 'FAILED',
    reason:
      `Joiner: no end after ${Math.round(ms / 1000)} s. Does the function install reach the ` +
      "cluster's endpoint and AWS's APIs from its subnets?",
  };
  const timer = setTimeout(() => resolve(late), Math.max(ms, 0));
  try {
    return await Promise.race([working, promise]);
  } finally {
    clearTimeout(timer);
  }
}

type Step = (ports: InstallPorts, request: InstallRequest) => Promise<string>;

const STEPS: Readonly<Record<InstallRequest['step'], Step>> = {
  check: async (ports, request) => {
    if (request.type === 'Delete') return 'nothing to take back';
    await usableCluster(ports, request, isMoving(request) ? undefined : endpointOf(request));
    return 'the cluster can be installed on';
  },
  roles: (ports, request) => keepRoles(ports, request),
  apply: (ports, request) =>
    request.type === 'Delete' ? takeBack(ports, request) : apply(ports, request),
  settings: (ports, request) => stateSettings(ports, request),
  settle: (ports, request) => settle(ports, request),
  data: async (ports, request) => {
    if (request.type !== 'Delete') return 'nothing to do';
    return `${await removeData(ports, request)} objects removed`;
  },
  nodes: (ports, request) => keepNodes(ports, request),
};

function endpointOf({ properties }: Pick<InstallRequest, 'properties'>): string {
  return properties['Endpoint'] ?? 'public';
}

/**
 * The stack goes to another endpoint, or a rollback takes it back to one that may be closed by now:
 * a request does not say which. `settle` asks for it at the end, to which a rollback seldom comes.
 */
function isMoving({ type, properties, oldProperties }: InstallRequest): boolean {
  return (
    type === 'Update' && endpointOf({ properties }) !== endpointOf({ properties: oldProperties })
  );
}

async function usableCluster(
  { cloud, region }: InstallPorts,
  { cluster }: InstallRequest,
  endpoint: string | undefined,
): Promise<ClusterAccess> {
  const facts = await cloud.describeCluster(cluster);
  const asked = endpoint ?? (facts !== undefined && isOpen(facts) ? 'public' : 'private');
  const fault = clusterFault({ cluster, region, endpoint: asked }, facts);
  if (fault !== undefined || facts === undefined) throw new Error(fault);
  return facts;
}

/** The stack never acts. */
function isShadow({ properties }: InstallRequest): boolean {
  return properties['Shadow'] === 'true';
}

/** What is applied for the stack. */
function wantedOf({ manifests }: InstallPorts, request: InstallRequest): readonly object[] {
  return isShadow(request) ? manifests.filter(isOfShadow) : manifests;
}

async function apply(ports: InstallPorts, request: InstallRequest): Promise<string> {
  const facts = await usableCluster(ports, request, undefined);
  const client = ports.connect(request.cluster, facts);
  try {
    const manifests = wantedOf(ports, request);
    if (!(await isAdmin(client, request.properties['Admin'] === 'true'))) {
      return await asItIs(client, request.cluster, manifests);
    }
    const isChecked = request.properties['Crds'] === 'checked';
    if (isChecked) await definitionsAsTheyAre(client, request.cluster, manifests);
    const own = isChecked ? manifests.filter((each) => !isDefinition(each)) : manifests;
    const applied = await applyAll({ client, manifests: own, isAutoMode: facts.isAutoMode });
    for (const each of applied) ports.log({ message: 'object', ...each });
    return summary(applied);
  } finally {
    await client.close();
  }
}

/** With `installCrds: false` somebody else applies the CRDs: what is there has to do. */
async function definitionsAsTheyAre(
  client: KubeClient,
  cluster: string,
  manifests: readonly object[],
): Promise<void> {
  const lacks = await lacking(client, manifests.filter(isDefinition));
  if (lacks.length === 0) return;
  throw new InstallFault(
    `the cluster ${cluster} lacks CRDs that this version needs, and installCrds is false: ` +
      `${lacks.slice(0, 3).join('; ')}. Upgrade the chart joiner-crds, or apply them with this ` +
      "version's command: joiner crds | kubectl apply --server-side -f -",
  );
}

/** Whoever is not the admin changes nothing: what is there has to do. */
async function asItIs(
  client: KubeClient,
  cluster: string,
  manifests: readonly object[],
): Promise<string> {
  const lacks = await lacking(client, manifests).catch((error: unknown) => {
    if (isKubeFault(error, 'forbidden')) return [error.message];
    throw error;
  });
  if (lacks.length === 0)
    return 'the cluster has all that this version needs; the installer is not its admin';
  throw new InstallFault(
    `the cluster ${cluster} lacks what this version needs, and the installer is not its admin: ` +
      `${lacks.slice(0, 3).join('; ')}. Deploy without installerAccess=false, or apply it as the ` +
      "admin with this version's command: joiner export manifests && " +
      'kubectl apply --server-side --recursive -f joiner-manifests',
  );
}

/** Everything runs with the new rights: what was needed meanwhile goes, the admin's access last. */
async function settle(ports: InstallPorts, request: InstallRequest): Promise<string> {
  if (request.type === 'Delete') return 'nothing to take back';
  const { cluster, properties } = request;
  // Without it the template is older than the question.
  const facts = await usableCluster(ports, request, properties['Endpoint']);
  const client = ports.connect(cluster, facts);
  try {
    const isLent = (await isAdmin(client, false)) && (properties['Policy'] ?? '') !== '';
    const wanted = wantedOf(ports, request);
    const unwanted = ports.manifests.filter((each) => !wanted.includes(each));
    const settling = isLent ? settleRights(client, wanted, unwanted) : Promise.resolve([]);
    // Whatever comes of the rights, what was lent is given back.
    const removed = await settling.finally(() => dropAdmin(ports, request));
    // A hint, no more: without it the clock starts them within minutes.
    await ports.cloud.wake(cluster).catch((error: unknown) => {
      ports.log({ message: 'the wake-up failed', reason: String(error) });
    });
    const what = [
      ...listed('removed', removed),
      ...(isLent ? ['the installer is no longer the cluster admin'] : []),
    ];
    return what.length === 0 ? 'nothing to take back' : what.join('; ');
  } finally {
    await client.close();
  }
}

/** For good: no role of the stack may lend it again, only whoever deploys. */
async function dropAdmin(
  { cloud }: InstallPorts,
  { cluster, properties }: InstallRequest,
): Promise<void> {
  const { Policy: policyArn = '', Principal: principalArn = '' } = properties;
  if (policyArn !== '') await cloud.dropAccess({ cluster, principalArn, policyArn });
}

function summary(applied: readonly Applied[]): string {
  const of = (outcome: Applied['outcome']): readonly string[] =>
    applied.filter((each) => each.outcome === outcome).map((each) => each.object);
  const taken = applied
    .filter((each) => each.takenOverFrom.length > 0)
    .map((each) => `${each.object} from ${each.takenOverFrom.join(' and ')}`);
  const parts = [
    `${of('applied').length} objects applied`,
    ...listed('taken over', taken),
    ...listed('newer ones kept', of('kept-newer')),
    ...listed('left to Auto Mode', of('left-to-auto-mode')),
  ];
  return parts.join('; ');
}

function listed(title: string, names: readonly string[]): readonly string[] {
  return names.length === 0 ? [] : [`${title}: ${names.join(', ')}`];
}

async function takeBack(ports: InstallPorts, request: InstallRequest): Promise<string> {
  const facts = await ports.cloud.describeCluster(request.cluster);
  if (facts === undefined) return 'the cluster is gone';
  const client = ports.connect(request.cluster, facts);
  try {
    const removed = await removeRights(client, ports.manifests);
    return `removed: ${removed.join(', ')}; CRDs stay, and with them what people wrote`;
  } finally {
    await client.close();
  }
}

/** A role that nodes run with may go only when they have gone, or when somebody says so. */
async function keepRoles(ports: InstallPorts, request: InstallRequest): Promise<string> {
  const { type, cluster, properties, oldProperties } = request;
  const lost = rolesLost(oldProperties, properties);
  const isAsked = type === 'Update' && properties['LeaveNodes'] !== 'true';
  if (!isAsked || lost.length === 0) return 'no role is taken away';
  const facts = await usableCluster(ports, request, undefined);
  if (isShadow(request)) {
    const left = await nodesThere(ports, cluster, facts, countUnattended);
    if (left > 0) throw new Error(shadowRefusal(left, cluster));
    return 'Karpenter looks after the nodes, or there are none';
  }
  // A rollback takes back what the deployment has just added, whatever other nodes there are.
  const count = (client: KubeClient): Promise<number> => countNodes(client, lost);
  const nodes = await nodesThere(ports, cluster, facts, count);
  if (nodes > 0) throw new Error(roleRefusal(nodes, cluster, lost));
  return 'no node has a role that is taken away';
}

/** The first thing that is asked of a stack that is to go, and the last of one that is made. */
async function keepNodes(
  ports: InstallPorts,
  { type, cluster, properties }: InstallRequest,
): Promise<string> {
  if (type !== 'Delete') return 'nothing to do';
  if (properties['LeaveNodes'] === 'true') return 'nodes may be left';
  const facts = await ports.cloud.describeCluster(cluster);
  if (facts === undefined) return 'the cluster is gone';
  const nodes = await nodesThere(ports, cluster, facts, countNodes);
  if (nodes > 0) throw new Error(destroyRefusal(nodes, cluster));
  return 'no nodes are left';
}

async function nodesThere(
  ports: InstallPorts,
  cluster: string,
  facts: ClusterAccess,
  count: (client: KubeClient) => Promise<number>,
): Promise<number> {
  const client = ports.connect(cluster, facts);
  try {
    // Its access entry may be new.
    await isAdmin(client, false);
    return await count(client);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const message =
      `whether nodes of Joiner are in the cluster ${cluster} cannot be found out (${why}). Where ` +
      `they may be left: npx cdk deploy -c cluster=${cluster} -c leaveNodes=true`;
    throw new Error(message, { cause: error });
  } finally {
    await client.close();
  }
}

/** A stack is worth no less where its settings cannot be stated: the command line asks for them. */
async function stateSettings(ports: InstallPorts, request: InstallRequest): Promise<string> {
  const facts = await ports.cloud.describeCluster(request.cluster);
  if (facts === undefined) return 'the cluster is gone';
  const client = ports.connect(request.cluster, facts);
  try {
    if (request.type === 'Delete') {
      await client.delete(RESOURCES.configMaps, SETTINGS_CONFIG_MAP, {});
      return 'the settings are removed';
    }
    const data: unknown = JSON.parse(request.properties['Settings'] ?? '{}');
    const object = { metadata: SETTINGS_CONFIG_MAP, data };
    await client.apply(RESOURCES.configMaps, SETTINGS_CONFIG_MAP, object);
    return 'the settings are stated';
  } catch (error) {
    const isRefused = isKubeFault(error, 'unauthorised') || isKubeFault(error, 'forbidden');
    if (!isRefused && !isKubeFault(error, 'notFound')) throw error;
    return `the settings are not stated in the cluster: ${error.message}`;
  } finally {
    await client.close();
  }
}

async function removeData(ports: InstallPorts, request: InstallRequest): Promise<number> {
  const { cloud, region } = ports;
  const bucket = request.properties['Bucket'] ?? '';
  if (request.properties['Extent'] === 'all') {
    return await cloud.removeObjects(bucket, '', () => true);
  }
  const { cluster } = request;
  const own = await cloud.removeObjects(bucket, BUCKET_LAYOUT.cluster(cluster), () => true);
  const shared = await cloud.removeObjects(bucket, BUCKET_LAYOUT.shared(region), (key) =>
    key.endsWith(`/${cluster}.json`),
  );
  return own + shared;
}
