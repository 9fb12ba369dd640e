import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import packageJson from '../../../package.json' with { type: 'json' };
import { ENV } from '../../../shared/contract.ts';
import { CONFIG } from '../kubeconfig.ts';
import { type Answer, inFolder, joiner } from '../run.ts';

const { version } = packageJson;

/** The answer of `joiner version` where the API server has this ConfigMap; undefined: none. */
async function versionWith(
  data: object | undefined,
  ...words: readonly string[]
): Promise<{ readonly answer: Answer; readonly paths: readonly string[] }> {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? '');
    const body = data === undefined ? { kind: 'Status', code: 404, reason: 'NotFound' } : { data };
    response.writeHead(data === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const config = CONFIG.replace(
    "server: 'https://127.0.0.1:1'",
    `server: 'http://127.0.0.1:${port}', insecure-skip-tls-verify: true`,
  );
  try {
    const answer = await inFolder({ config }, (folder) =>
      joiner('version', '--kubeconfig', `${folder}/config`, ...words),
    );
    return { answer, paths };
  } finally {
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  }
}

describe('joiner version', () => {
  it('prints both versions, by the ConfigMap that the stack states its settings in', async () => {
    const { answer, paths } = await versionWith({ [ENV.version]: version });
    const stdout = `Client Version: ${version}\nFunctions Version: ${version}\n`;
    expect(answer).toEqual({ exitCode: 0, stdout, stderr: '' });
    expect(paths).toEqual(['/api/v1/namespaces/kube-system/configmaps/joiner-settings']);
  });

  it('says that the versions are too far apart', async () => {
    const { answer } = await versionWith({ [ENV.version]: '99.0.0' });
    expect(answer.stdout).toContain('Functions Version: 99.0.0\n');
    expect(answer.stderr).toContain('more than one minor version apart is not supported');
  });

  it('prints a document', async () => {
    const { answer } = await versionWith({ [ENV.version]: '99.0.0' }, '-o', 'json');
    expect(JSON.parse(answer.stdout)).toMatchObject({ joiner: version, functions: '99.0.0' });
  });

  it.each([
    ['no ConfigMap', undefined, 'there is no ConfigMap kube-system/joiner-settings'],
    ['an older stack', { FEATURE_GATES: '' }, 'the stack does not state its version'],
  ])('says that the functions are not known: %s', async (_, data, why) => {
    const { answer } = await versionWith(data);
    expect(answer).toMatchObject({ exitCode: 0, stdout: `Client Version: ${version}\n` });
    expect(answer.stderr).toBe(`joiner: the functions' version is not known: ${why}\n`);
  });

  it('prints its own version where no API server answers', async () => {
    const answer = await inFolder({ config: CONFIG }, (folder) =>
      joiner('version', '--kubeconfig', `${folder}/config`),
    );
    expect(answer).toMatchObject({ exitCode: 0, stdout: `Client Version: ${version}\n` });
    expect(answer.stderr).toContain("the functions' version is not known: ");
  });

  it('prints its own version where there is no kubeconfig', async () => {
    const answer = await inFolder({}, (folder) =>
      joiner('version', '--kubeconfig', `${folder}/none`),
    );
    expect(answer).toMatchObject({ exitCode: 0, stdout: `Client Version: ${version}\n` });
    expect(answer.stderr).toContain("the functions' version is not known: ");
  });

  it('asks no cluster with --client', async () => {
    const { answer, paths } = await versionWith({}, '--client');
    expect(answer).toEqual({ exitCode: 0, stdout: `Client Version: ${version}\n`, stderr: '' });
    expect(paths).toEqual([]);
  });
});
