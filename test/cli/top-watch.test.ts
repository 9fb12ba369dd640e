import { afterEach, expect, it } from 'vitest';
import { EmptyCluster } from '../support/bundles/empty-cluster.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

const streams = [process.stdin, process.stdout];
const before = streams.map(({ isTTY }) => isTTY);
afterEach(() => {
  streams.forEach((stream, at) => void Object.assign(stream, { isTTY: before[at] }));
});

it.each([true, false])('a name that no NodePool has is bad input, terminal: %s', async (isTTY) => {
  for (const stream of streams) Object.assign(stream, { isTTY });
  const cluster = new EmptyCluster();
  const url = await cluster.listen();
  try {
    const server = `server: '${url}', insecure-skip-tls-verify: true`;
    const config = CONFIG.replace("server: 'https://127.0.0.1:1'", server);
    const answer = await inFolder({ config }, (folder) =>
      joiner('top', '--kubeconfig', `${folder}/config`, '--watch', '--nodepool', 'typo'),
    );
    expect(answer).toEqual({
      exitCode: 2,
      stdout: '',
      stderr: 'error: --nodepool typo: there is none of this name; there are: none\n',
    });
  } finally {
    await cluster.close();
  }
});
