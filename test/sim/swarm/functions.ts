import { leased, type Outcome, RESERVE_MS } from '../../../functions/runtime/leased.ts';
import { ConsolidationMemory } from '../../../shared/app/disrupt/consolidation-memory.ts';
import { disrupt } from '../../../shared/app/disrupt/disrupt.ts';
import { interrupt, newInterruptMemory } from '../../../shared/app/interrupt/interrupt.ts';
import { lifecycle } from '../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../shared/app/lifecycle/memory.ts';
import { maintainNodeClasses } from '../../../shared/app/nodeclass/nodeclass.ts';
import { provision } from '../../../shared/app/provision/provision.ts';
import type { AppSettings } from '../../../shared/app/settings.ts';
import { LeaseLost, leaseGuarded, writeLeases } from '../../../shared/app/writes/write-leases.ts';
import { KubeClient } from '../../../shared/kube/client.ts';
import { KubeError } from '../../../shared/kube/errors.ts';
import { kubeLeases } from '../../../shared/kube/leases.ts';
import { whenFree } from '../../../shared/kube/when-free.ts';
import { PortError, type Ports } from '../../../shared/ports.ts';
import type { Awaits, Invocation } from './awaits.ts';
import type { Faults } from './faults.ts';
import { type LeaseServer, leaseTransport } from './lease-server.ts';

/** Functions that ticks and wake-ups invoke; messages invoke `interrupt`. */
export type FunctionName = 'provision' | 'lifecycle' | 'disrupt' | 'nodeclass';

/** Lambda ends an invocation after this time. */
const TIMEOUT_MS = 300_000;
const CHECKS_MS = 60_000;
const LIFECYCLE_PAUSE_MS = 1_000;

export interface FunctionsSettings {
  readonly awaits: Awaits;
  readonly faults: Faults;
  readonly settings: AppSettings;
  readonly leases: LeaseServer;
  /** The true time. */
  readonly nowMs: () => number;
  readonly portsOf: (by: Invocation) => Ports;
  /** Wakes a function; the event takes a moment, and may get lost. */
  readonly wake: (name: FunctionName) => void;
  /** A failure that no use case may have. */
  readonly onProblem: (problem: string) => void;
}

/** What an invocation has at hand. */
interface Sandbox {
  readonly by: Invocation;
  readonly ports: Ports;
  readonly kube: KubeClient;
  readonly remainingMs: () => number;
}

/**
 * The functions as they are deployed: the use cases under the Leases of the real protocol, any
 * number of invocations beside each other, with what a warm sandbox remembers.
 */
export class Functions {
  private readonly settings: FunctionsSettings;
  private invocations = 0;
  private readonly warmLifecycles: LifecycleMemory[] = [];
  private readonly warmSearches: ConsolidationMemory[] = [];
  private readonly warmInterrupts = [newInterruptMemory()];

  constructor(settings: FunctionsSettings) {
    this.settings = settings;
  }

  /** Runs the function, without waiting for it. */
  invoke(name: FunctionName): void {
    void this.run(name, async (sandbox) => await this.workOf(name, sandbox));
  }

  /** Handles one message of the queue; `onFailed` where it is to come again. */
  deliver(id: string, body: string, onFailed: () => void): void {
    const queuedAtMs = this.settings.nowMs();
    void this.run('interrupt', async ({ ports }) => {
      const memory = this.takeWarm(this.warmInterrupts) ?? newInterruptMemory();
      const wake = async (): Promise<void> => {
        this.settings.wake('lifecycle');
        this.settings.wake('provision');
      };
      const messages = [{ id, body, queuedAtMs }];
      const report = await interrupt(ports, this.settings.settings, messages, wake, memory);
      this.warmInterrupts.push(memory);
      if (report.failedIds.length > 0) onFailed();
    });
  }

  private async workOf(name: FunctionName, sandbox: Sandbox): Promise<void> {
    if (name === 'provision') await this.provision(sandbox);
    else if (name === 'lifecycle') await this.lifecycle(sandbox);
    else if (name === 'disrupt') await this.disrupt(sandbox);
    else await maintainNodeClasses(sandbox.ports);
  }

  private async run(
    name: FunctionName | 'interrupt',
    work: (sandbox: Sandbox) => Promise<void>,
  ): Promise<void> {
    const { faults, nowMs, onProblem } = this.settings;
    this.invocations += 1;
    const by: Invocation = {
      id: this.invocations,
      function: name,
      startedMs: nowMs(),
      skewMs: faults.happens('clock-skew') ? faults.between(-500, 500) : 0,
      isKilled: false,
      frozenUntilMs: 0,
    };
    const endMs = nowMs() + TIMEOUT_MS;
    const remainingMs = (): number => endMs - nowMs();
    const sandbox = { by, ports: this.settings.portsOf(by), kube: this.kubeOf(by), remainingMs };
    try {
      await work(sandbox);
    } catch (error) {
      const isOperating =
        error instanceof PortError || error instanceof LeaseLost || error instanceof KubeError;
      if (isOperating) faults.mark(`${name} failed`);
      else onProblem(`${name} threw ${error instanceof Error ? error.stack : String(error)}`);
    }
  }

  private async provision({ by, ports, kube, remainingMs }: Sandbox): Promise<void> {
    const wakeAnother = (): void => this.settings.wake('provision');
    const leases = writeLeases({ leases: leasesOf(kube, by), ports, wakeAnother });
    for (;;) {
      const report = await provision(ports, this.settings.settings, remainingMs, leases);
      if (report.launched.length > 0) this.settings.wake('lifecycle');
      if (!report.isWoken && !report.isUnfinished) return;
      if (remainingMs() < RESERVE_MS) return wakeAnother();
    }
  }

  private async lifecycle({ by, ports, kube, remainingMs }: Sandbox): Promise<Outcome> {
    const memory = this.takeWarm(this.warmLifecycles) ?? new LifecycleMemory(CHECKS_MS);
    const wakeAnother = (): void => this.settings.wake('lifecycle');
    const outcome = await leased({
      leases: leasesOf(kube, by),
      name: 'lifecycle',
      pass: async (lease) => {
        const guarded = leaseGuarded(ports, lease);
        const report = await lifecycle(guarded, this.settings.settings, memory);
        return report.isUnsettled || report.isExpecting ? 'unsettled' : 'settled';
      },
      remainingMs,
      sleep: async (ms) => await this.settings.awaits.pause(by, ms),
      pauseMs: LIFECYCLE_PAUSE_MS,
      finish: async () => await memory.nominations.close(),
      onLeft: wakeAnother,
    });
    this.warmLifecycles.push(memory);
    if (outcome === 'out of time') wakeAnother();
    return outcome;
  }

  private async disrupt({ by, ports, kube, remainingMs }: Sandbox): Promise<void> {
    const memory = this.takeWarm(this.warmSearches) ?? new ConsolidationMemory();
    const wakeAnother = (): void => this.settings.wake('provision');
    const waiting = whenFree(kube, leasesOf(kube, by), 'disrupt', remainingMs);
    const leases = writeLeases({ leases: waiting, ports, wakeAnother });
    const report = await disrupt(ports, this.settings.settings, { memory }, leases);
    this.warmSearches.push(memory);
    if (report.isLeftToAnother) return;
    if (report.deleted.length > 0) this.settings.wake('lifecycle');
    if (report.created.length > 0 || report.isWoken) wakeAnother();
  }

  /** What a sandbox remembers that has run before; undefined: this one is new. */
  private takeWarm<Memory>(warm: Memory[]): Memory | undefined {
    return this.settings.faults.happens('cold-start') ? undefined : warm.pop();
  }

  /** The API server's Leases, by way of the real client. */
  private kubeOf(by: Invocation): KubeClient {
    const { awaits, nowMs, faults, leases } = this.settings;
    const transport = leaseTransport(leases, async (ask) => {
      await awaits.latency(by);
      const answer = ask();
      await awaits.latency(by);
      return answer;
    });
    const timing = {
      nowMs: () => nowMs() + by.skewMs,
      sleep: async (ms: number, signal?: AbortSignal) => await awaits.pause(by, ms, signal),
      random: () => faults.between(0, 999) / 1000,
    };
    return new KubeClient({ transport, tokens: undefined, timing, name: 'swarm', version: '0' });
  }
}

function leasesOf(kube: KubeClient, { id, function: by }: Invocation) {
  return kubeLeases({ client: kube, holder: `${by}-${id}`, by });
}
