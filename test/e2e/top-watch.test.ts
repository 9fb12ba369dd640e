import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { claimsOf, nameOf } from '../support/closed-loop/questions.ts';
import { describeClosedLoop } from '../support/closed-loop/world.ts';
import { writeKubeconfig } from '../support/control-plane/kubeconfig.ts';

const pool = nodePool('web', [
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
]);
const hasTmux = spawnSync('tmux', ['-V']).status === 0;

/** A terminal of its own, with a server that ends with the test. */
class Terminal {
  readonly #socket: string;

  constructor(socket: string) {
    this.#socket = socket;
  }

  #tmux(...args: readonly string[]): string {
    return execFileSync('tmux', ['-S', this.#socket, ...args], { encoding: 'utf8' });
  }

  start(command: string, columns: number, rows: number): void {
    const size = ['-x', String(columns), '-y', String(rows)];
    this.#tmux('-f', '/dev/null', 'new-session', '-d', '-s', 'top', ...size, command);
    this.#tmux('set-option', '-g', 'remain-on-exit', 'on');
  }

  press(...keys: readonly string[]): void {
    this.#tmux('send-keys', '-t', 'top', ...keys);
  }

  resize(columns: number, rows: number): void {
    this.#tmux('resize-window', '-t', 'top', '-x', String(columns), '-y', String(rows));
  }

  get screen(): string {
    return this.#tmux('capture-pane', '-p', '-t', 'top');
  }

  get isOver(): boolean {
    return this.#tmux('list-panes', '-t', 'top', '-F', '#{pane_dead}').trim() === '1';
  }

  kill(): void {
    spawnSync('tmux', ['-S', this.#socket, 'kill-server']);
  }
}

await describeClosedLoop('joiner top --watch in a terminal', (loop) => {
  let folder = '';
  let kubeconfig = '';
  let terminal: Terminal;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'joiner-top-'));
    kubeconfig = await writeKubeconfig(folder, loop.plane());
    terminal = new Terminal(join(folder, 'tmux'));
  });
  afterAll(async () => {
    terminal.kill();
    await rm(folder, { recursive: true, force: true });
  });
  const command = (): string => {
    const bin = join(import.meta.dirname, '../../cli/bin/joiner.mjs');
    return `${process.execPath} ${bin} top --watch --interval 1 --region us-east-1 --kubeconfig ${kubeconfig}`;
  };
  const until = (text: string | RegExp): Promise<void> =>
    expect.poll(() => terminal.screen).toMatch(text);

  it.skipIf(!hasTmux)('shows launch, join, drain and resize, and ends with q', async () => {
    await loop.apply([nodeClass, pool]);
    await loop.tick();
    terminal.start(command(), 150, 30);
    await until('0 nodes, $0.0000/h');
    await loop.apply([apart('web', 2)]);
    await until(/2 pending pods/);
    await until(/default\/web-\S+ {2}\d+s {2}\S/);
    await loop.invoke('provision');
    await until(/web, 2 nodes/);
    const isShown = async () =>
      terminal.screen.includes('0 pending pods') && terminal.screen.includes('Ready');
    await loop.until('all run, on the screen as well', isShown);
    expect(terminal.screen).toMatch(/c6a\.\S+ +on-demand +us-east-1\w +\$0\.\d{4} +[█▏▎▍▌▋▊▉░]+/);

    const [claim] = await claimsOf(loop);
    await loop.admin().delete(RESOURCES.nodeClaims, { name: nameOf(claim) }, {});
    await until(/Draining/);

    terminal.press('Enter');
    await until(/▸ web/);
    expect(terminal.screen).not.toMatch(/ on-demand +us-/);
    terminal.press('Enter');
    terminal.press('/');
    terminal.press('n', 'o', 'n', 'e');
    await until(/filter: none/);
    expect(terminal.screen).not.toContain('▾ web');
    terminal.press('Escape');
    await until(/▾ web/);

    terminal.resize(70, 12);
    await expect.poll(() => terminal.screen.split('\n').length).toBeLessThan(14);
    await until(/web, \d nodes/);
    expect(terminal.screen).not.toMatch(/ on-demand +us-/);

    terminal.press('q');
    await expect.poll(() => terminal.isOver).toBe(true);
  });
});
