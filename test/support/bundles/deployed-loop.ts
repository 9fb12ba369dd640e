import { createServer, type Server } from 'node:http';
import { RESOURCES } from '../../../shared/api/resources.ts';
import type { FunctionName } from '../../../shared/contract.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { property, text } from '../../../shared/kube/list.ts';
import { BUCKET, CLUSTER } from '../aws/cloud.ts';
import { accessKeyOf, KEYS, REGION } from '../closed-loop/functions.ts';
import type { ClosedLoop } from '../closed-loop/world.ts';
import { close, listen } from '../loopback.ts';
import { synthesiseFunctions } from './assembly.ts';
import { KubeRecorder } from './kube-recorder.ts';
import { BundledFunctions } from './processes.ts';

/** What the installer told CloudFormation. */
export interface InstallAnswer {
  readonly Status: string;
  readonly Reason: string;
}

/** The world of a closed loop, with the functions as they are deployed. */
export interface DeployedLoop {
  readonly functions: BundledFunctions;
  readonly kube: KubeRecorder;
  /** Bodies that were written to Prometheus's endpoint. */
  readonly remoteWrites: readonly Buffer[];
  /** One invocation, with time for one pass. */
  invoke(name: FunctionName, event?: object, remainingMs?: number): Promise<unknown>;
  /** Runs nodeclass, provision, disrupt and lifecycle in turn until the condition holds. */
  until(what: string, holds: () => Promise<boolean> | boolean): Promise<void>;
  /** Asks the installer as CloudFormation does. */
  install(
    type: 'Create' | 'Update' | 'Delete',
    step: string,
    properties?: Readonly<Record<string, string>>,
    before?: Readonly<Record<string, string>>,
  ): Promise<InstallAnswer>;
  stop(): Promise<void>;
}

/** What CloudFormation gives the installer's access entry when it makes it. */
export const LENT = {
  principalArn: 'arn:aws:iam::111122223333:role/JoinerInstall-us-east-1-demo-01234567',
  policyArn: 'arn:aws:eks::aws:cluster-access-policy/AmazonEKSClusterAdminPolicy',
} as const;

/** A pass is begun while there is more than 20 s left. */
const ONE_PASS_MS = 20_300;
const UNTIL_MS_MAX = 300_000;
const TICK_MS = 150;
const ROUND = ['nodeclass', 'provision', 'disrupt', 'lifecycle'] as const;

/** The stack's functions from its synthesised assembly, on the loop's cluster and cloud. */
export async function deploy(
  { cloud, admin }: ClosedLoop,
  afterEach: () => void,
): Promise<DeployedLoop> {
  const kube = new KubeRecorder({
    url: cloud.cluster?.endpoint ?? '',
    caPem: Buffer.from(cloud.cluster?.certificateAuthority?.data ?? '', 'base64').toString('utf8'),
    adminToken: await adminToken(admin()),
    isLent: () => cloud.accessPolicies.has(LENT.policyArn),
  });
  const endpoint = await kube.listen();
  const { resourcesVpcConfig } = cloud.cluster ?? {};
  cloud.cluster = {
    ...cloud.cluster,
    endpoint,
    accessConfig: { authenticationMode: 'API' },
    resourcesVpcConfig: { ...resourcesVpcConfig, endpointPublicAccess: true },
  };
  const remote = await listenForWrites();
  const props = {
    cluster: CLUSTER,
    decisionEvents: 'all',
    metrics: { remoteWrite: { endpoint: remote.url } },
  } as const;
  const assembly = synthesiseFunctions(props, REGION, {
    'AWS::AccountId': cloud.account.id,
    'AWS::URLSuffix': 'amazonaws.com',
    bucket: BUCKET,
  });
  const functions = new BundledFunctions(assembly.functions, (name) => ({
    AWS_LAMBDA_FUNCTION_NAME: name,
    AWS_REGION: REGION,
    // The cluster knows each by its own.
    AWS_ACCESS_KEY_ID: accessKeyOf(name),
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    AWS_ENDPOINT_URL: cloud.endpoint,
  }));
  const formation = await listenForAnswers();
  const invoke: DeployedLoop['invoke'] = async (name, event = {}, remainingMs = ONE_PASS_MS) => {
    const answer = await functions.invoke(name, event, remainingMs);
    afterEach();
    return answer;
  };
  return {
    functions,
    kube,
    remoteWrites: remote.bodies,
    invoke,
    until: (what, holds) => poll(what, holds, invoke, () => functions.output.slice(-40).join('')),
    install: async (type, step, properties = {}, before = {}) => {
      const all = { Step: step, Cluster: CLUSTER, Bucket: BUCKET, Extent: 'all', ...properties };
      const event = {
        RequestType: type,
        ResponseURL: formation.url,
        ResourceProperties: all,
        OldResourceProperties: { ...all, ...before },
      };
      await invoke('install', event, 60_000);
      return formation.last();
    },
    stop: async () => {
      await functions.stop();
      await kube.close();
      await formation.close();
      await remote.close();
      assembly.stop();
    },
  };
}

/** An endpoint of remote write that takes everything. */
async function listenForWrites() {
  const bodies: Buffer[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    bodies.push(Buffer.concat(chunks));
    response.writeHead(204).end();
  });
  const url = `${await listen(server)}/api/v1/write`;
  return { url, bodies, close: () => close(server) };
}

/** A token of an account that is made the cluster's admin. */
async function adminToken(admin: KubeClient): Promise<string> {
  const namespace = 'kube-system';
  const name = 'installer';
  const accounts = `/api/v1/namespaces/${namespace}/serviceaccounts`;
  const asked = { verb: 'create', resource: 'serviceaccounts' };
  const post = (path: string, body: object): Promise<unknown> =>
    admin.json({ asked, method: 'POST', path, body });
  await post(accounts, { metadata: { name } });
  await admin.create(RESOURCES.clusterRoleBindings, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'ServiceAccount', namespace, name }],
  });
  const made = await post(`${accounts}/${name}/token`, { spec: {} });
  return text(property(property(made, 'status'), 'token'));
}

async function poll(
  what: string,
  holds: () => Promise<boolean> | boolean,
  invoke: DeployedLoop['invoke'],
  lastWords: () => string,
): Promise<void> {
  const deadline = performance.now() + UNTIL_MS_MAX;
  for (;;) {
    for (const name of ROUND) await invoke(name);
    if (await holds()) return;
    if (performance.now() > deadline) throw new Error(`not in time: ${what}\n${lastWords()}`);
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
  }
}

/** The address that CloudFormation gives for answers. */
async function listenForAnswers() {
  let answer: InstallAnswer | undefined;
  const server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      answer = JSON.parse(Buffer.concat(chunks).toString('utf8')) as InstallAnswer;
      response.end();
    });
  });
  const url = await listen(server);
  return {
    url: `${url}/answer`,
    last: (): InstallAnswer => answer ?? { Status: 'NONE', Reason: 'there was no answer' },
    close: () => close(server),
  };
}
