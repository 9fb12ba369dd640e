import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildHeadlampPlugin } from '../../scripts/headlamp/build.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { Chromium, chromiumPath, type Scheme, type Tab } from '../support/chromium.ts';
import { apart, deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  nameOf,
  ourNodes,
  podsOf,
  runningPods,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import { type ClosedLoop, describeClosedLoop } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';
import { readManifests } from '../support/control-plane/manifests.ts';
import { freePorts, type Program, startProgram } from '../support/control-plane/programs.ts';
import { HEADLAMP } from '../support/headlamp-plugin.ts';
import { root } from '../support/repository.ts';

/** The built plugin in a real Headlamp; CONTRIBUTING.md has the commands that build one. */
const chromium = chromiumPath();
const isThere = HEADLAMP !== undefined && HEADLAMP !== 'build' && chromium !== undefined;
if (!isThere) process.stderr.write('skipped: JOINER_HEADLAMP names no Headlamp, or no chromium\n');

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const pool = nodePool('web', [
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
]);
const budget = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
};

/** The user of Headlamp may read what the plugin reads, and nothing else. */
const binding = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRoleBinding',
  metadata: { name: 'joiner:headlamp' },
  roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'joiner:headlamp' },
  subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'joiner:viewer' }],
};

/** A Headlamp of the control plane, with the plugin, on a port of its own. */
async function startHeadlamp(folder: string, from: string, kubeconfig: string) {
  const plugins = join(folder, 'plugins');
  await buildHeadlampPlugin(plugins);
  const [port = 0] = await freePorts(1);
  const server = startProgram('headlamp', join(from, 'headlamp-server'), [
    ...['-kubeconfig', kubeconfig, '-plugins-dir', plugins],
    ...['-html-static-dir', join(from, 'frontend/build')],
    ...['-listen-addr', '127.0.0.1', '-port', String(port)],
  ]);
  return { server, origin: `http://127.0.0.1:${port}` };
}

/** The objects of which `test/unit/headlamp` makes its views. */
async function record(loop: ClosedLoop): Promise<void> {
  const { nodeClaims, nodes, nodePools, pods, podDisruptionBudgets, events } = RESOURCES;
  const kinds = { nodeClaims, nodes, nodePools, pods, podDisruptionBudgets, events };
  const lists = await Promise.all(
    Object.entries(kinds).map(async ([name, kind]) => [name, await loop.list(kind)] as const),
  );
  const file = join(root, 'test/unit/headlamp/recorded.json');
  const all = { at: new Date().toISOString(), ...Object.fromEntries(lists) };
  writeFileSync(file, `${JSON.stringify(all, undefined, 1)}\n`);
}

/** Types into the box for documents as React expects it. */
function paste(text: string): string {
  return `(() => { const box = document.querySelector('#joiner-document');
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value').set
      .call(box, ${JSON.stringify(text)});
    box.dispatchEvent(new Event('input', { bubbles: true })); return 0; })()`;
}

/** What axe finds wrong with what the plugin has drawn: each section, with its tables. */
async function faultsOf(tab: Tab): Promise<unknown> {
  await tab.run(AXE);
  return tab.value(`axe.run('main', { resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map((n) => n.html).join(' | ')))`);
}

/** Where the links of the page lead. */
async function linksOf(tab: Tab): Promise<unknown> {
  return tab.value(
    `[...document.querySelectorAll('main a')].map((link) => link.getAttribute('href'))`,
  );
}

describe.skipIf(isThere)('the plugin in Headlamp', () => {
  it.skip('is not opened here', () => undefined);
});

if (isThere) {
  await describeClosedLoop('the plugin in Headlamp', (loop) => {
    let folder = '';
    let kubeconfig = '';
    let headlamp: { readonly server: Program; readonly origin: string } | undefined;
    let browser: Chromium | undefined;
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'joiner-headlamp-'));
      kubeconfig = await writeKubeconfig(folder, loop.plane());
      const viewer = await writeKubeconfig(folder, loop.plane(), 'viewer');
      headlamp = await startHeadlamp(folder, HEADLAMP ?? '', viewer);
      browser = await Chromium.start(chromium ?? '');
    });
    afterAll(async () => {
      await browser?.stop();
      await headlamp?.server.stop();
      await rm(folder, { recursive: true, force: true });
    });

    const opened = async (path: string, scheme: Scheme = 'light'): Promise<Tab> => {
      if (browser === undefined) throw new Error('there is no browser');
      return browser.open(`${headlamp?.origin}/c/test/${path}`, scheme, 1500, 3000);
    };
    const shows = async (tab: Tab, ...texts: readonly (string | RegExp)[]): Promise<void> => {
      for (const text of texts) {
        await expect.poll(() => tab.text('main')).toMatch(text);
      }
      expect(await tab.text('main')).not.toContain('cannot be read');
      expect(await faultsOf(tab)).toEqual([]);
      const isOwn = (url: string) => url.startsWith(`${headlamp?.origin}/`) || /^data:/.test(url);
      expect(tab.requests.filter((url) => !isOwn(url))).toEqual([]);
    };

    it('shows prices, decisions and what blocks nodes', async () => {
      await loop.apply([
        nodeClass,
        pool,
        budget,
        ...(await readManifests('docs/headlamp-role.yaml')),
      ]);
      await loop.apply([binding]);
      await loop.apply([apart('web', 2), deployment('huge', 1, '900')]);
      await loop.until('web runs', async () => (await runningPods(loop, 'web')) === 2);
      await loop.until('huge waits', async () => (await unschedulablePods(loop, 'huge')) === 1);
      for (let pass = 0; pass < 3; pass += 1) await loop.tick();
      if (process.env['JOINER_RECORD'] !== undefined) await record(loop);
      const [claim] = await claimsOf(loop);
      const [node] = await ourNodes(loop);
      const [huge] = await podsOf(loop, 'huge');
      const runnerUp =
        /Runner-up\s+m6a\.large on-demand in us-east-1\w at \$0\.\d{4}\/h: \$0\.\d{4} more/;
      const blocked = /disruption\s+PodDisruptionBudget default\/web does not allow the eviction/;

      await shows(
        await opened('joiner/nodes'),
        /2 nodes: \$0\.\d{4}\/h, \$\d+\.\d\d a month/,
        /c6a\.large\s+on-demand\s+us-east-1\w\s+\$0\.\d{4}\/h\s+Ready/,
      );
      await shows(await opened(`nodes/${nameOf(node)}`), runnerUp, blocked);
      const ofClaim = await opened(`joiner/nodeclaims/${nameOf(claim)}`);
      await shows(ofClaim, blocked, runnerUp);
      expect(await linksOf(ofClaim)).toEqual(
        expect.arrayContaining([
          `/c/test/joiner/nodeclaims/${nameOf(claim)}`,
          expect.stringMatching(/^\/c\/test\/nodes\/ip-/),
          '/c/test/customresources/nodepools.karpenter.sh/-/web',
        ]),
      );
      await shows(
        await opened(`pods/default/${nameOf(huge)}`),
        'No node is planned for the pod',
        /NodePool web: \d+ types → \d+ after its requirements → cause: 0 after cpu 900/,
      );

      const bin = join(root, 'cli/bin/joiner.mjs');
      const args = ['explain', 'nodeclaim', nameOf(claim), '-o', 'json', '--region', 'us-east-1'];
      const explanation = execFileSync(
        process.execPath,
        [bin, ...args, '--kubeconfig', kubeconfig],
        { encoding: 'utf8' },
      );
      const decisions = await opened('joiner/decisions', 'dark');
      await shows(decisions, /FailedScheduling\s+Failed to schedule pod/);
      await decisions.value(paste(explanation));
      await shows(decisions, `NodeClaim ${nameOf(claim)}`, /Runner-up\s+m6a\.large/);
    });
  });
}
