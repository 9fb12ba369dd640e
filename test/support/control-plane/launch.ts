import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts, type Program, startProgram } from './programs.ts';

const READY_MS_MAX = 60_000;
const READY_POLL_MS = 50;
const ATTEMPTS_MAX = 3;

/** A running control plane on the loopback interface, and how to talk to it as its admin. */
export interface ControlPlane {
  /** e.g. `https://127.0.0.1:40123` */
  readonly url: string;
  readonly caPem: string;
  /** A member of system:masters. */
  readonly adminToken: string;
  /** Of the group joiner:viewer, which has no rights but those that a test gives it. */
  readonly viewerToken: string;
  /** File with what {@link ControlPlaneOptions.audited} has asked, as JSON lines. */
  readonly auditLog: string;
  /** Ends the API server and starts it again on the same data; done when it is ready. */
  restartApiServer(): Promise<void>;
  /** etcd does nothing for so long: the API server answers nothing that it has to ask. */
  pauseEtcd(ms: number): Promise<void>;
  stop(): Promise<void>;
}

/** A control plane of which only the API server runs so far. */
export type Addresses = Omit<ControlPlane, 'stop' | 'restartApiServer' | 'pauseEtcd'>;

export interface ControlPlaneOptions {
  /** URL of a TokenReview webhook that authenticates other tokens. @default none */
  readonly tokenWebhookUrl?: string;
  /** The user whose requests are noted. @default nobody's are */
  readonly audited?: string;
  /** Requests wait by their priority where there are many. @default false */
  readonly priorityAndFairness?: boolean;
  /** kube-scheduler and the controllers too. @default true */
  readonly controllers?: boolean;
  /** Controllers that do not run, by kube-controller-manager's names for them. @default none */
  readonly withoutControllers?: readonly string[];
  /**
   * What the API server is given before the controllers start: the garbage collector then knows
   * kinds that it would otherwise find only half a minute later.
   */
  readonly beforeControllers?: (plane: Addresses) => Promise<void>;
  /** `default`: the controllers make as many requests a second as they do out of the box. */
  readonly controllerRate?: 'default' | 'fast';
}

/**
 * Starts etcd, kube-apiserver and, unless told otherwise, kube-scheduler and the controllers, and
 * waits until the API server is ready. A port that was taken meanwhile costs another attempt.
 */
export async function launchControlPlane(
  assets: string,
  options: ControlPlaneOptions = {},
): Promise<ControlPlane> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await launchOnce(assets, options);
    } catch (error) {
      const taken = String(error).includes('address already in use');
      if (!taken || attempt === ATTEMPTS_MAX) throw error;
    }
  }
}

async function launchOnce(assets: string, options: ControlPlaneOptions): Promise<ControlPlane> {
  const folder = await mkdtemp(join(tmpdir(), 'joiner-control-plane-'));
  const programs: Program[] = [];
  const stop = async (): Promise<void> => {
    // Last started, first stopped: the API server must not wait for an etcd that is gone.
    for (const program of programs.toReversed()) await program.stop();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const start = (name: string, args: readonly string[]): Program => {
      const program = startProgram(name, join(assets, name), args);
      programs.push(program);
      return program;
    };
    const [client = 0, peer = 0, secure = 0] = await freePorts(3);
    const [adminToken, viewerToken] = [randomToken(), randomToken()];
    const url = `https://127.0.0.1:${secure}`;
    const tokens = [
      `${adminToken},admin,admin,"system:masters"`,
      `${viewerToken},viewer,viewer,"joiner:viewer"`,
    ];
    await writeSecrets(folder, tokens, options.tokenWebhookUrl);
    await writeFile(join(folder, 'audit-policy'), auditPolicy(options.audited));
    const auditLog = join(folder, 'audit.log');
    const etcd = start('etcd', etcdFlags(folder, client, peer));
    start('kube-apiserver', apiServerFlags(folder, client, secure, options));
    await untilReady(url, adminToken, programs);
    const caPem = await readFile(join(folder, 'apiserver.crt'), 'utf8');
    await options.beforeControllers?.({ url, caPem, adminToken, viewerToken, auditLog });
    if (options.controllers ?? true) {
      await writeFile(join(folder, 'kubeconfig'), kubeconfig(url, caPem, adminToken));
      start('kube-scheduler', schedulerFlags(folder));
      start('kube-controller-manager', controllerFlags(folder, options));
    }
    const restartApiServer = async (): Promise<void> => {
      const at = programs.findIndex(({ name }) => name === 'kube-apiserver');
      await programs[at]?.stop();
      programs.splice(at, 1);
      const again = start('kube-apiserver', apiServerFlags(folder, client, secure, options));
      // The controllers still end before it.
      programs.splice(at, 0, ...programs.splice(programs.indexOf(again), 1));
      await untilReady(url, adminToken, programs);
    };
    const pauseEtcd = async (ms: number): Promise<void> => {
      etcd.pause();
      await new Promise((resolve) => setTimeout(resolve, ms));
      etcd.resume();
    };
    const addresses = { url, caPem, adminToken, viewerToken, auditLog };
    return { ...addresses, restartApiServer, pauseEtcd, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function randomToken(): string {
  return randomBytes(16).toString('hex');
}

async function writeSecrets(
  folder: string,
  tokens: readonly string[],
  webhook?: string,
): Promise<void> {
  const keys = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  await writeFile(join(folder, 'service-accounts.key'), keys.privateKey);
  await writeFile(join(folder, 'service-accounts.pub'), keys.publicKey);
  await writeFile(join(folder, 'tokens.csv'), `${tokens.join('\n')}\n`);
  if (webhook !== undefined) {
    await writeFile(join(folder, 'webhook'), kubeconfig(webhook, undefined, undefined));
  }
}

/** Who asked for what; bodies are of no interest. */
function auditPolicy(user: string | undefined): string {
  const rules = user === undefined ? [] : [{ level: 'Metadata', users: [user] }];
  return JSON.stringify({
    apiVersion: 'audit.k8s.io/v1',
    kind: 'Policy',
    omitStages: ['RequestReceived'],
    rules: [...rules, { level: 'None' }],
  });
}

/** Loopback only; a crash of the machine may lose data, which costs a test run nothing. */
function etcdFlags(folder: string, client: number, peer: number): readonly string[] {
  const clientUrl = `http://127.0.0.1:${client}`;
  const peerUrl = `http://127.0.0.1:${peer}`;
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
  ];
}

function apiServerFlags(
  folder: string,
  etcd: number,
  port: number,
  options: ControlPlaneOptions,
): readonly string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${etcd}`,
    `--secure-port=${port}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--cert-dir=${folder}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--service-cluster-ip-range=10.100.0.0/16',
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${join(folder, 'service-accounts.pub')}`,
    `--service-account-signing-key-file=${join(folder, 'service-accounts.key')}`,
    // Pods of tests mount nothing, so they need not wait for their service account.
    '--disable-admission-plugins=ServiceAccount',
    '--endpoint-reconciler-type=none',
    `--enable-priority-and-fairness=${options.priorityAndFairness ?? false}`,
    ...(options.audited === undefined
      ? []
      : [
          `--audit-policy-file=${join(folder, 'audit-policy')}`,
          `--audit-log-path=${join(folder, 'audit.log')}`,
        ]),
    ...(options.tokenWebhookUrl === undefined
      ? []
      : [
          `--authentication-token-webhook-config-file=${join(folder, 'webhook')}`,
          '--authentication-token-webhook-version=v1',
        ]),
  ];
}

/** kube-scheduler's default of 50 requests a second takes 18 s to bind 1,000 pods. */
const FAST_FLAGS = ['--kube-api-qps=2000', '--kube-api-burst=4000'];

const CLIENT_FLAGS = [
  '--leader-elect=false',
  '--authentication-skip-lookup=true',
  '--secure-port=0',
];

function schedulerFlags(folder: string): readonly string[] {
  return [`--kubeconfig=${join(folder, 'kubeconfig')}`, ...CLIENT_FLAGS, ...FAST_FLAGS];
}

function controllerFlags(
  folder: string,
  { controllerRate, withoutControllers = [] }: ControlPlaneOptions,
): readonly string[] {
  return [
    `--kubeconfig=${join(folder, 'kubeconfig')}`,
    `--service-account-private-key-file=${join(folder, 'service-accounts.key')}`,
    // No kubelet renews its lease here; nodes are unready only when a test says so.
    '--node-monitor-grace-period=1h',
    ...CLIENT_FLAGS,
    ...(controllerRate === 'default' ? [] : FAST_FLAGS),
    `--controllers=${['*', ...withoutControllers.map((name) => `-${name}`)].join(',')}`,
  ];
}

/** Also the form in which the API server wants the address of a webhook. JSON is YAML. */
export function kubeconfig(
  server: string,
  caPem: string | undefined,
  token: string | undefined,
): string {
  const authority =
    caPem === undefined
      ? {}
      : { 'certificate-authority-data': Buffer.from(caPem).toString('base64') };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, ...authority } }],
    users: [{ name: 'test', user: token === undefined ? {} : { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}

async function untilReady(url: string, token: string, programs: readonly Program[]): Promise<void> {
  const deadline = Date.now() + READY_MS_MAX;
  // Only here the certificate is not checked: the server makes it while it starts.
  const agent = new Agent({ rejectUnauthorized: false, keepAlive: false });
  while (!(await isReady(`${url}/readyz`, token, agent))) {
    const dead = programs.find((program) => program.exitCode() !== undefined);
    if (dead !== undefined || Date.now() > deadline) {
      const about = dead ?? programs.at(-1);
      throw new Error(`${about?.name} did not become ready:\n${about?.output()}`);
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}

function isReady(url: string, token: string, agent: Agent): Promise<boolean> {
  return new Promise((resolve) => {
    const headers = { authorization: `Bearer ${token}` };
    const sent = request(url, { agent, headers }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.once('error', () => resolve(false));
    sent.end();
  });
}
