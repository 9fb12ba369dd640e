import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/command-list.ts';
import { completionAnswer } from '../../cli/completion/complete.ts';
import { completionsOf, type NamesOf } from '../../cli/completion/completions.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

const NAMES: Readonly<Record<string, readonly string[]>> = {
  context: ['dev', 'prod'],
  namespace: ['default', 'shop'],
  node: ['ip-10-0-0-1'],
  nodeclaim: ['web-1', 'web-2'],
  nodeoverlay: ['graviton'],
  nodepool: ['general', 'gpu'],
  pod: ['web'],
};

/** Names as `kind`, and where they were asked for beside it. */
const namesOf: NamesOf = async (kinds, { context, namespace, kubeconfig }) =>
  kinds
    .flatMap((kind) => NAMES[kind] ?? [])
    .map((name) => [name, kubeconfig, context, namespace].filter(Boolean).join('@'));

async function values(line: string): Promise<string> {
  const { candidates, files } = await completionsOf(line.split(' '), namesOf);
  return [...candidates.map(({ value }) => value), ...(files ? ['FILES'] : [])].join(' ');
}

describe('completion', () => {
  it.each([
    ['pla', 'plan'],
    ['re', 'replay resume release'],
    ['help pla', 'plan'],
    ['unknown ', ''],
    ['top --sort', '--sort-by'],
    ['top --sort-by p', 'price pods'],
    ['top --sort-by=p', '--sort-by=price --sort-by=pods'],
    ['top --watch --w', ''],
    ['top --nodepool ', 'general gpu'],
    ['top --nodepool general g', 'general gpu'],
    ['top --context ', 'dev prod'],
    ['top --kubeconfig ', 'FILES'],
    ['top --context prod --nodepool gp', 'gpu@prod'],
    ['top --kubeconfig=/tmp/k --nodepool gp', 'gpu@/tmp/k'],
    ['top --interval ', ''],
    ['top ', ''],
    ['pause ', 'all launch disrupt terminate'],
    ['pause all ', ''],
    ['pause --for 1h te', 'terminate'],
    ['simulate ', 'FILES'],
    ['simulate a b ', 'FILES'],
    ['simulate -', 'FILES'],
    ['simulate --html ', 'FILES'],
    ['catalog --region eu-west-', 'eu-west-1 eu-west-2 eu-west-3'],
    ['diagnose --overlay ', 'graviton'],
    ['solve ', 'FILES'],
    ['advise ', 'FILES'],
    ['backtest ', 'FILES'],
    ['replay ', 'FILES'],
    ['advise --metrics ', 'FILES'],
    ['explain ', 'pod node nodeclaim deployment replicaset statefulset daemonset job cronjob'],
    ['explain deployment ', ''],
    ['explain no', 'node nodeclaim'],
    ['explain pod ', 'web'],
    ['explain -n shop pod ', 'web@shop'],
    ['explain nodeclaim web-', 'web-1 web-2'],
    ['explain pod/', 'pod/web'],
    ['explain pod web ', ''],
    ['release ', 'ip-10-0-0-1 web-1 web-2'],
    ['completion p', 'powershell'],
  ])('of %j', async (line, expected) => {
    const found = await values(line);
    if (line === 'simulate -') expect(found).toContain('--scenario');
    else expect(found).toBe(expected);
  });

  it('completes every command and every option of it', async () => {
    expect((await values('')).split(' ')).toEqual([...COMMANDS.map(({ name }) => name), '--help']);
    for (const { name, load } of COMMANDS) {
      const options = (await load()).options.flatMap(({ long }) => long ?? []);
      expect((await values(`${name} --`)).split(' ')).toEqual([...options, '--help']);
    }
  });

  it('answers a shell with a candidate a line and a directive', async () => {
    expect(await completionAnswer(['resu'])).toBe('resume\tend a pause\n:4\n');
    expect(await completionAnswer(['simulate', ''])).toBe(':0\n');
  });

  it('has no names where there is no cluster', async () => {
    const answer = await joiner(
      'complete',
      '--',
      'top',
      '--kubeconfig=/not/there',
      '--nodepool',
      '',
    );
    expect(answer).toEqual({ exitCode: 0, stdout: ':4\n', stderr: '' });
  });
});

describe('names of a cluster', () => {
  it.each([
    [[], '/api/v1/namespaces/team/pods'],
    [['-n', 'shop'], '/api/v1/namespaces/shop/pods'],
  ])(
    "are those of the context's namespace, else of the one that is named: %j",
    async (words, at) => {
      const asked: string[] = [];
      const api = createServer((request, response) => {
        const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
        asked.push(`${pathname} ${searchParams.has('limit')}`);
        const items = [{ metadata: { name: 'web' } }, { metadata: { name: 'api' } }];
        response.setHeader('content-type', 'application/json');
        response.end(JSON.stringify({ kind: 'PartialObjectMetadataList', metadata: {}, items }));
      });
      await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
      const { port } = api.address() as AddressInfo;
      const config = CONFIG.replace(
        "server: 'https://127.0.0.1:1'",
        `insecure-skip-tls-verify: true, server: 'http://127.0.0.1:${port}'`,
      ).replace('user: me }', 'user: me, namespace: team }');
      await inFolder({ config }, async (folder) => {
        const where = [`--kubeconfig=${join(folder, 'config')}`, ...words];
        const { stdout } = await joiner('complete', '--', 'explain', ...where, 'pod', '');
        expect(stdout).toBe('api\nweb\n:4\n');
      });
      expect(asked).toEqual([`${at} true`]);
      api.close();
    },
  );
});

/** What the command prints. */
function scriptOf(...args: readonly string[]): string {
  const command = join(import.meta.dirname, '..', '..', 'cli', 'bin', 'joiner.mjs');
  const run = spawnSync(process.execPath, [command, 'completion', ...args], { encoding: 'utf8' });
  expect(run).toMatchObject({ status: 0, stderr: '' });
  return run.stdout;
}

describe('joiner completion', () => {
  it.each(['bash', 'zsh', 'fish', 'powershell'])('%s asks joiner complete', (shell) => {
    expect(scriptOf(shell, '--name', 'eks-joiner')).toContain('eks-joiner complete');
  });

  it('completes in bash', async () => {
    const script = scriptOf('bash');
    const words = (...line: readonly string[]) => {
      const list = line.map((each) => `'${each}'`).join(' ');
      return `
_get_comp_words_by_ref() { words=(${list}); cword=${line.length - 1}; cur=\${words[cword]}; prev=; }
compopt() { :; }
source ./completion.bash
__joiner_complete
printf '%s\\n' "\${COMPREPLY[@]}"`;
    };
    await inFolder({ 'completion.bash': script }, async (folder) => {
      writeFileSync(join(folder, 'joiner'), `#!/bin/sh\nprintf 'plan\\tpreview\\n:4\\n'\n`);
      chmodSync(join(folder, 'joiner'), 0o755);
      const run = spawnSync('bash', ['--norc', '-c', words('joiner', 'pl')], {
        cwd: folder,
        encoding: 'utf8',
        env: { PATH: `${folder}:${process.env['PATH']}` },
      });
      expect(run).toMatchObject({ stderr: '', stdout: 'plan\n' });
    });
    expect(script).toContain('complete -o default -F __joiner_complete joiner');
  });

  it('is sourced again in bash, also under another name', async () => {
    const files = { joiner: scriptOf('bash'), other: scriptOf('bash', '--name', 'eks-joiner') };
    await inFolder(files, async (folder) => {
      const run = spawnSync(
        'bash',
        [
          '--norc',
          '-c',
          'source ./joiner; source ./joiner; source ./other; complete -p joiner eks-joiner',
        ],
        { cwd: folder, encoding: 'utf8' },
      );
      expect(run).toMatchObject({
        status: 0,
        stderr: '',
        stdout: [
          'complete -o default -F __joiner_complete joiner\n',
          'complete -o default -F __eks_joiner_complete eks-joiner\n',
        ].join(''),
      });
    });
  });

  it('kubectl gets a program of its own', async () => {
    const { stdout } = await joiner('completion', 'kubectl');
    expect(stdout).toBe('#!/bin/sh\nexec kubectl joiner complete -- "$@"\n');
  });

  it('names what there is for a shell that it does not know', async () => {
    const { stderr, exitCode } = await joiner('completion', 'tcsh');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('<shell> tcsh: expected one of bash, zsh, fish, powershell, kubectl');
  });
});
