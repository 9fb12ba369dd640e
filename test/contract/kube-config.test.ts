import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { httpTransport } from '../../shared/kube/transport.ts';

let folder = '';

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function load(user: (folder: string) => object, context: object = {}, cluster: object = {}) {
  folder = await mkdtemp(join(tmpdir(), 'joiner-kubeconfig-'));
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: {
          server: 'https://api.example',
          'certificate-authority-data': base64('CA'),
          ...cluster,
        },
      },
    ],
    users: [{ name: 'u', user: user(folder) }],
    contexts: [{ name: 'x', context: { cluster: 'c', user: 'u', ...context } }],
    'current-context': 'x',
  };
  await writeFile(join(folder, 'config'), JSON.stringify(config));
  const script = `#!/bin/sh\necho '${JSON.stringify({
    apiVersion: 'client.authentication.k8s.io/v1beta1',
    kind: 'ExecCredential',
    status: { token: 'from-exec' },
  })}'\n`;
  await writeFile(join(folder, 'plugin'), script);
  await chmod(join(folder, 'plugin'), 0o700);
  vi.stubEnv('KUBECONFIG', join(folder, 'config'));
  return await loadKubeconfig(undefined, () => 0);
}

describe('a kubeconfig', () => {
  it('with a token', async () => {
    const { endpoint, tokens } = await load(() => ({ token: 'secret' }));
    expect(endpoint).toMatchObject({ url: 'https://api.example', caPem: 'CA' });
    expect(await tokens?.token()).toBe('secret');
  });

  it.each([
    [{}, 'default'],
    [{ namespace: '' }, 'default'],
    [{ namespace: 'shop' }, 'shop'],
  ])('whose context has %o means the namespace %s', async (context, namespace) => {
    expect(await load(() => ({ token: 'secret' }), context)).toMatchObject({ namespace });
  });

  it('with an exec plugin', async () => {
    const { tokens } = await load((at) => ({
      exec: {
        apiVersion: 'client.authentication.k8s.io/v1beta1',
        command: join(at, 'plugin'),
        interactiveMode: 'Never',
      },
    }));
    expect(await tokens?.token()).toBe('from-exec');
  });

  it('with an exec plugin in the folder of the file, wherever the command runs', async () => {
    const apiVersion = 'client.authentication.k8s.io/v1';
    const { tokens } = await load(() => ({ exec: { apiVersion, command: './plugin' } }));
    expect(await tokens?.token()).toBe('from-exec');
  });

  const printing = (value: string): readonly string[] => [
    '-c',
    `cat >&2; printf '{"status":{"token":"%s"}}' "${value}"`,
  ];
  const plugin = { apiVersion: 'client.authentication.k8s.io/v1', command: 'sh' };

  it('with an exec plugin that reads its input, which is at its end', async () => {
    const { tokens } = await load(() => ({ exec: { ...plugin, args: printing('read') } }));
    expect(await tokens?.token()).toBe('read');
  });

  it('with an exec plugin, which is told the version that is expected', async () => {
    const args = printing('$(printf %s "$KUBERNETES_EXEC_INFO" | base64 | tr -d \'\\n\')');
    const { tokens } = await load(() => ({ exec: { ...plugin, args } }));
    const info = Buffer.from((await tokens?.token()) ?? '', 'base64').toString('utf8');
    const spec = { interactive: false };
    expect(JSON.parse(info)).toEqual({
      apiVersion: plugin.apiVersion,
      kind: 'ExecCredential',
      spec,
    });
  });

  it('with an exec plugin, which is asked again once its token is refused', async () => {
    const counting = (at: string): readonly string[] =>
      printing(`$(echo x >> ${at}/runs; wc -l < ${at}/runs | tr -d ' ')`);
    const { tokens } = await load((at) => ({ exec: { ...plugin, args: counting(at) } }));
    expect(await tokens?.token()).toBe('1');
    expect(await tokens?.token()).toBe('1');
    tokens?.invalidate();
    expect(await tokens?.token()).toBe('2');
  });

  it('with an exec plugin that answers with a certificate', async () => {
    const pems = '"clientCertificateData":"CERT","clientKeyData":"KEY"';
    const args = ['-c', `echo '{"status":{${pems}}}'`];
    const { endpoint, tokens } = await load(() => ({ exec: { ...plugin, args } }));
    expect(endpoint.clientCertificate).toEqual({ certPem: 'CERT', keyPem: 'KEY' });
    expect(tokens).toBeUndefined();
  });

  it('with a client certificate', async () => {
    const { endpoint, tokens } = await load(() => ({
      'client-certificate-data': base64('CERT'),
      'client-key-data': base64('KEY'),
    }));
    expect(endpoint.clientCertificate).toEqual({ certPem: 'CERT', keyPem: 'KEY' });
    expect(tokens).toBeUndefined();
  });

  it.each(['proxy-url', 'HTTPS_PROXY'])(
    'with a proxy by %s, through which every request goes',
    async (by) => {
      const asked: string[] = [];
      const proxy = createServer();
      proxy.on('connect', ({ url, headers }, socket) => {
        asked.push(`${url} ${headers['proxy-authorization']}`);
        // The first connection is refused, the second one is never answered.
        if (asked.length === 1) socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
      });
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const address = proxy.address();
      const port = typeof address === 'object' ? address?.port : 0;
      const through = `http://me:secret@127.0.0.1:${port}`;
      vi.stubEnv('NO_PROXY', '');
      vi.stubEnv('HTTPS_PROXY', by === 'HTTPS_PROXY' ? through : 'http://127.0.0.1:1');
      const own = by === 'proxy-url' ? { [by]: through } : {};
      const { endpoint } = await load(() => ({ token: 'secret' }), {}, own);
      const transport = httpTransport(endpoint);
      const request = { method: 'GET', path: '/version', headers: {}, body: undefined } as const;
      const send = () => transport.send({ ...request, timeoutMs: 1000, silenceMsMax: 1000 });
      await expect(send()).rejects.toThrow('403');
      await expect(send()).rejects.toThrow('Proxy timeout');
      const credentials = `Basic ${base64('me:secret')}`;
      expect(asked).toEqual([`api.example:443 ${credentials}`, `api.example:443 ${credentials}`]);
      await transport.close();
      proxy.closeAllConnections();
      proxy.close();
    },
    20_000,
  );

  it.each<[string, object, string]>([
    [
      'no current context',
      { 'current-context': '' },
      'current-context is not set; --context names one of: x',
    ],
    [
      'a current context that is gone',
      { 'current-context': 'old' },
      "current-context is 'old', which is not there; --context names one of: x",
    ],
    ['a cluster that is gone', { clusters: [] }, "context 'x': it names c, which is not there"],
    ['a user who is gone', { users: [] }, "context 'x' names the user u, who is not in"],
    [
      'a proxy that is no URL',
      { clusters: [{ name: 'c', cluster: { server: 'https://a.example', 'proxy-url': 'p:1' } }] },
      'proxy-url of cluster c, or HTTPS_PROXY: expected a URL such as http://HOST:3128, not "p:1"',
    ],
    [
      'a server that is no URL',
      { clusters: [{ name: 'c', cluster: { server: '127.0.0.1:1' } }] },
      'server of cluster c: expected a URL such as https://NAME, not "127.0.0.1:1"',
    ],
  ])('with %s says so', async (_, changed, said) => {
    await load(() => ({ token: 'secret' }));
    const file = join(folder, 'config');
    const config = JSON.parse(await readFile(file, 'utf8'));
    await writeFile(file, JSON.stringify({ ...config, ...changed }));
    await expect(loadKubeconfig(undefined, () => 0)).rejects.toThrow(said);
  });

  it.each<[string, object, string]>([
    ['is not there', { command: 'no-such-plugin' }, 'exec plugin no-such-plugin: no such command'],
    [
      'is not there, and says where it is',
      { command: 'no-such-plugin', installHint: 'See example.com.\n' },
      'no such command; See example.com.',
    ],
    ['fails', { args: ['-c', 'echo expired >&2; exit 1'] }, 'exec plugin sh: expired'],
    ['fails without a word', { args: ['-c', 'exit 1'] }, 'exec plugin sh: it failed'],
    ['prints words', { args: ['-c', 'echo hello'] }, 'its answer is no ExecCredential'],
    ['is not named', { command: '' }, 'exec plugin: it names no command'],
    ['prints no status', { args: ['-c', 'echo {}'] }, 'its answer is no ExecCredential'],
  ])('whose exec plugin %s says so', async (_, plugin, said) => {
    const apiVersion = 'client.authentication.k8s.io/v1beta1';
    const loading = load(() => ({ exec: { apiVersion, command: 'sh', ...plugin } }));
    await expect(loading).rejects.toThrow(said);
  });

  it.each(['http://127.0.0.1:8001', 'http://localhost:8080'])(
    'of %s, as kubectl proxy answers, needs no more than kubectl does',
    async (server) => {
      const { endpoint } = await load(() => ({}), {}, { server });
      expect(endpoint).toMatchObject({ url: server, skipVerification: false });
    },
  );

  it('with a user who acts as another, in every request', async () => {
    const asked: unknown[] = [];
    const server = createServer((request, response) => {
      asked.push([request.headers['impersonate-user'], request.headers['x-own']]);
      response.end('{}');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const cluster = { server: `http://127.0.0.1:${port}`, 'insecure-skip-tls-verify': true };
    const { endpoint } = await load(() => ({ token: 'secret', as: 'viewer' }), {}, cluster);
    const transport = httpTransport(endpoint);
    const request = { method: 'GET', path: '/version', body: undefined } as const;
    const headers = { 'x-own': 'kept' };
    await transport.send({ ...request, headers, timeoutMs: 1000, silenceMsMax: 1000 });
    expect(asked).toEqual([['viewer', 'kept']]);
    await transport.close();
    server.closeAllConnections();
    server.close();
  });

  it('that is nowhere', async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-kubeconfig-'));
    vi.stubEnv('KUBECONFIG', undefined);
    vi.stubEnv('HOME', folder);
    const loading = loadKubeconfig(undefined, () => 0);
    await expect(loading).rejects.toThrow('there is none: KUBECONFIG is not set');
    const named = loadKubeconfig('nope', () => 0);
    await expect(named).rejects.toThrow('there is none: KUBECONFIG is not set');
  });

  it('of a file that is named, instead of that of the environment', async () => {
    await load(() => ({ token: 'secret' }));
    const file = join(folder, 'config');
    vi.stubEnv('KUBECONFIG', join(folder, 'absent'));
    const { tokens } = await loadKubeconfig('x', () => 0, file);
    expect(await tokens?.token()).toBe('secret');
    await expect(loadKubeconfig('y', () => 0, file)).rejects.toThrow("no cluster for context 'y'");
  });

  describe('in several files', () => {
    const written = async (name: string, current: string, own: string, server: string) => {
      const text = JSON.stringify({
        clusters: [{ name: own, cluster: { server } }],
        users: [{ name: 'admin', user: { token: `token-${name}` } }],
        contexts: [{ name: own, context: { cluster: own, user: 'admin', namespace: name } }],
        'current-context': current,
      });
      await writeFile(join(folder, name), text);
    };
    const read = async (...names: readonly string[]) => {
      vi.stubEnv('KUBECONFIG', names.map((name) => join(folder, name)).join(delimiter));
      const { endpoint, namespace, tokens } = await loadKubeconfig(undefined, () => 0);
      return { url: endpoint.url, namespace, token: await tokens?.token() };
    };

    it('is merged as kubectl does: what two files say, the first one says', async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-kubeconfig-'));
      await written('a', 'a', 'a', 'https://a.example');
      await written('b', 'b', 'b', 'https://b.example');
      await written('other-a', '', 'a', 'https://other.example');
      const a = { url: 'https://a.example', namespace: 'a', token: 'token-a' };
      expect(await read('a', 'b')).toEqual(a);
      expect(await read('a', 'other-a')).toEqual(a);
      const first = { url: 'https://b.example', namespace: 'b', token: 'token-b' };
      expect(await read('b', 'a')).toEqual(first);
      expect(await read('other-a', 'b')).toEqual({ ...first, token: 'token-other-a' });
    });

    it('leaves out those that are absent', async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-kubeconfig-'));
      await written('a', 'a', 'a', 'https://a.example');
      expect(await read('absent', 'a')).toMatchObject({ url: 'https://a.example' });
      await expect(read('absent', 'gone')).rejects.toThrow('no such file');
    });
  });
});
