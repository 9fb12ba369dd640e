import { existsSync } from 'node:fs';
import { Agent } from 'node:http';
import type { RequestOptions } from 'node:https';
import { homedir } from 'node:os';
import { delimiter, dirname, join, resolve, sep } from 'node:path';
import { type Cluster, KubeConfig, type User } from '@kubernetes/client-node';
import { type ExecCredential, type ExecPlugin, execCredential } from './exec-plugin.ts';
import { proxyOf } from './proxy.ts';
import { fixedToken, renewingToken, type TokenSource } from './token.ts';
import type { Endpoint } from './transport.ts';

/**
 * For the command line only: functions must not import this file, whose library weighs more than
 * everything else that they bundle. Users with a token, a certificate or an exec plugin work.
 */
export interface ClusterAccess {
  readonly endpoint: Endpoint;
  /** Undefined: the client certificate speaks for us. */
  readonly tokens: TokenSource | undefined;
  /** Of the context, which is meant where none is named. */
  readonly namespace: string;
}

/** Plugins need not tell when a token expires; that of `aws eks get-token` is good for 15 minutes. */
const EXEC_TOKEN_MS = 10 * 60_000;

/** What the library falls back to where there is no file at all. */
const NO_KUBECONFIG = 'http://localhost:8080';

/** The current or named context of the file, else of `KUBECONFIG` or `~/.kube/config`. */
export async function loadKubeconfig(
  context: string | undefined,
  nowMs: () => number,
  file?: string,
): Promise<ClusterAccess> {
  const config = configOf(file);
  if (kubeconfigFiles(file).length === 0 && isNone(config)) {
    throw new Error(
      'there is none: KUBECONFIG is not set, and ~/.kube/config is not there. Make one with: ' +
        'aws eks update-kubeconfig --name NAME --region REGION',
    );
  }
  if (context !== undefined) config.setCurrentContext(context);
  const cluster = currentCluster(config, context === undefined);
  const proxyUrl = cluster.proxyUrl || proxyOf(new URL(cluster.server), process.env);
  if (proxyUrl !== undefined) {
    if (!/^(https?|socks\w*):\/\//.test(proxyUrl) || !URL.canParse(proxyUrl)) {
      const why = `expected a URL such as http://HOST:3128, not ${JSON.stringify(proxyUrl)}`;
      throw new Error(`proxy-url of cluster ${cluster.name}, or HTTPS_PROXY: ${why}`);
    }
  }
  // Without TLS, as `kubectl proxy` answers: there is nothing to verify, but the library wants it said.
  const isPlain = cluster.server.startsWith('http:');
  const skipTLSVerify = isPlain || cluster.skipTLSVerify;
  const others = config.getClusters().filter((each) => each !== cluster);
  config.clusters = [{ ...cluster, skipTLSVerify, ...(proxyUrl ? { proxyUrl } : {}) }, ...others];
  const plugin = config.getCurrentUser()?.exec;
  if (plugin !== undefined) putCredential(config, await execCredential(plugin));
  const options: RequestOptions = { headers: {} };
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, agent } = options;
  // Of `as-groups` the library knows nothing: without them a user has fewer rights, not more.
  const { impersonateUser: as } = config.getCurrentUser() ?? {};
  const isProxied = proxyUrl !== undefined && agent instanceof Agent;
  const endpoint: Endpoint = {
    url: cluster.server,
    skipVerification: cluster.skipTLSVerify === true,
    ...(ca === undefined ? {} : { caPem: String(ca) }),
    ...(isProxied ? { proxyAgent: agent } : {}),
    ...(as ? { headers: { 'impersonate-user': as } } : {}),
    ...(cluster.tlsServerName === undefined ? {} : { serverName: cluster.tlsServerName }),
    ...(cert === undefined || key === undefined
      ? {}
      : { clientCertificate: { certPem: String(cert), keyPem: String(key) } }),
  };
  const tokens = tokensOf(bearerOf(options.headers), plugin, nowMs);
  const { namespace = '' } = config.getContextObject(config.getCurrentContext()) ?? {};
  return { endpoint, tokens, namespace: namespace === '' ? 'default' : namespace };
}

/**
 * The files that hold the kubeconfig; none where it is ~/.kube/config, which need not be there. Of
 * several in `KUBECONFIG` those that are absent are passed over, as kubectl does.
 */
export function kubeconfigFiles(given: string | undefined): readonly string[] {
  if (given !== undefined) return [given];
  const named = (process.env['KUBECONFIG'] ?? '').split(delimiter).filter((file) => file !== '');
  const present = named.filter((file) => existsSync(file));
  return present.length === 0 ? named : present;
}

function configOf(given: string | undefined): KubeConfig {
  const [first, ...others] = kubeconfigFiles(given).map((file) => {
    const config = new KubeConfig();
    config.loadFromFile(file);
    return placed(config, dirname(file));
  });
  if (first !== undefined) return others.reduce(merged, first);
  const config = new KubeConfig();
  config.loadFromDefault();
  return placed(config, join(homedir(), '.kube'));
}

/**
 * With the places of exec plugins that are named from the file's folder, as kubectl takes them;
 * those without a separator are looked up in the PATH.
 */
function placed(config: KubeConfig, folder: string): KubeConfig {
  config.users = config.getUsers().map((user): User => {
    const plugin: ExecPlugin | undefined = user.exec;
    if (!plugin?.command?.includes(sep)) return user;
    return { ...user, exec: { ...plugin, command: resolve(folder, plugin.command) } };
  });
  return config;
}

/**
 * Both as one, as kubectl merges them: what both say, the first one says. The library would take
 * the current context of the last file, which is another cluster than kubectl's.
 */
function merged(first: KubeConfig, second: KubeConfig): KubeConfig {
  const config = new KubeConfig();
  config.loadFromOptions({
    clusters: firstOfEach([...first.getClusters(), ...second.getClusters()]),
    users: firstOfEach([...first.getUsers(), ...second.getUsers()]),
    contexts: firstOfEach([...first.getContexts(), ...second.getContexts()]),
    currentContext: first.getCurrentContext() || second.getCurrentContext(),
  });
  return config;
}

function firstOfEach<Named extends { readonly name: string }>(all: readonly Named[]): Named[] {
  return all.filter(({ name }, at) => all.findIndex((each) => each.name === name) === at);
}

/** Whether the library has found no file, and made up a cluster. */
function isNone(config: KubeConfig): boolean {
  const servers = config.getClusters().map(({ server }) => server);
  return servers.length > 0 && servers.every((server) => server === NO_KUBECONFIG);
}

/** The names of a kubeconfig's contexts; none where there is no file. */
export function contextsOf(file?: string): readonly string[] {
  return configOf(file)
    .getContexts()
    .map(({ name }) => name);
}

/** The cluster of the context. Throws where the files do not fit together, which kubectl refuses. */
function currentCluster(config: KubeConfig, isDefault: boolean): Cluster {
  const name = config.getCurrentContext();
  const known = config.getContexts().map((each) => each.name);
  if (!name || (isDefault && !known.includes(name))) {
    const said = name ? `is '${name}', which is not there` : 'is not set';
    throw new Error(`current-context ${said}; --context names one of: ${known.join(', ')}`);
  }
  const cluster = config.getCurrentCluster();
  if (!cluster) {
    const { cluster: wanted } = config.getContextObject(name) ?? {};
    const named = wanted === undefined ? '' : `: it names ${wanted}, which is not there`;
    throw new Error(`the kubeconfig has no cluster for context '${name}'${named}`);
  }
  const { user } = config.getContextObject(name) ?? {};
  if (user && !config.getUser(user)) {
    throw new Error(`context '${name}' names the user ${user}, who is not in the kubeconfig`);
  }
  if (!/^https?:\/\//.test(cluster.server) || !URL.canParse(cluster.server)) {
    const why = `expected a URL such as https://NAME, not ${JSON.stringify(cluster.server)}`;
    throw new Error(`server of cluster ${cluster.name}: ${why}`);
  }
  return cluster;
}

/** What the plugin has answered, in the plugin's place. */
function putCredential(config: KubeConfig, { token, certPem, keyPem }: ExecCredential): void {
  const base64 = (pem: string): string => Buffer.from(pem).toString('base64');
  const current = config.getCurrentUser();
  config.users = config.getUsers().map((user): User => {
    if (user !== current) return user;
    const { exec: _, ...own } = user;
    return {
      ...own,
      ...(token === undefined ? {} : { token }),
      ...(certPem === undefined ? {} : { certData: base64(certPem) }),
      ...(keyPem === undefined ? {} : { keyData: base64(keyPem) }),
    };
  });
}

/** The first token, and where a plugin makes them, further ones once it is old or refused. */
function tokensOf(
  first: string | undefined,
  plugin: ExecPlugin | undefined,
  nowMs: () => number,
): TokenSource | undefined {
  if (first === undefined) return undefined;
  if (plugin === undefined) return fixedToken(first);
  let made: string | undefined = first;
  return renewingToken(async () => {
    const value = made ?? (await execCredential(plugin)).token ?? '';
    made = undefined;
    return { value, expiresAtMs: nowMs() + EXEC_TOKEN_MS };
  }, nowMs);
}

function bearerOf(headers: unknown): string | undefined {
  if (typeof headers !== 'object' || headers === null) return undefined;
  const found = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization');
  return found === undefined ? undefined : String(found[1]).replace(/^Bearer /, '');
}
