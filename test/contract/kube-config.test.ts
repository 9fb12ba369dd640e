import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadKubeconfig } from '../../shared/kube/kubeconfig.ts';

let folder = '';

afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true, force: true });
});

const base64 = (text: string): string => Buffer.from(text).toString('base64');

async function load(user: (folder: string) => object, context: object = {}) {
  folder = await mkdtemp(join(tmpdir(), 'joiner-kubeconfig-'));
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      {
        name: 'c',
        cluster: { server: 'https://api.example', 'certificate-authority-data': base64('CA') },
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

  it('with a client certificate', async () => {
    const { endpoint, tokens } = await load(() => ({
      'client-certificate-data': base64('CERT'),
      'client-key-data': base64('KEY'),
    }));
    expect(endpoint.clientCertificate).toEqual({ certPem: 'CERT', keyPem: 'KEY' });
    expect(tokens).toBeUndefined();
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
});
