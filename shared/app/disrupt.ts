import { commandsOf, drainingOf } from '../core/disruption/commands.ts';
import type { Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import { ConsolidationMemory } from './consolidation-memory.ts';
import { forgetCanaries, noteCanaries } from './disrupt-canary.ts';
import { followCommands } from './disrupt-commands.ts';
import { markConsolidatable } from './disrupt-consolidatable.ts';
import { consolidateNodes } from './disrupt-consolidate.ts';
import { canariesOf, judge, markDrift, provenStates, targetsOf } from './disrupt-drift.ts';
import { removeEmpty } from './disrupt-empty.ts';
import { WaitingEvents } from './disrupt-events.ts';
import type { DisruptPass } from './disrupt-pass.ts';
import { startCommands } from './disrupt-start.ts';
import { sayUnconsolidatable } from './disrupt-unconsolidatable.ts';
import { recordNothing } from './launch-records.ts';
import { isOurs } from './offers.ts';
import { resolveTypes } from './outlook.ts';
import type { AppSettings } from './settings.ts';
import { Shadow } from './shadow.ts';

export interface DisruptReport {
  /** Claims that `provision` has to launch. */
  readonly created: readonly string[];
  /** Claims that `lifecycle` has to drain. */
  readonly deleted: readonly string[];
  /** Why nodes with pods that were looked at stay, by the claim's name. */
  readonly kept: ReadonlyMap<string, string>;
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
}

/** Nodes of which one pass says that they have to wait: of a whole cluster it would take minutes. */
const SAID_MAX = 20;

export interface DisruptOptions {
  /** Nodes of which one pass says that they have to wait; 20 by default. */
  readonly saidMax?: number;
  /** What earlier passes of the process have found; nothing by default. */
  readonly memory?: ConsolidationMemory;
  /** The claim of a node about which somebody asks why it stays. */
  readonly asked?: string;
}

async function observe(
  ports: Ports,
  settings: AppSettings,
  { saidMax = SAID_MAX, memory = new ConsolidationMemory(), asked }: DisruptOptions,
): Promise<DisruptPass> {
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const nowMs = ports.clock.nowMs();
  const resolution = await resolveTypes(ports, settings, state);
  const targets = targetsOf(ports, state, resolution);
  const judged = judge(state, targets, nowMs);
  const proven = provenStates(state, judged);
  const { nodeClaims, nodes } = state.objects;
  const ours = nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  return {
    ports,
    settings,
    state,
    resolution,
    nowMs,
    shadow: new Shadow(ports, state, startedAtMs),
    failures: [],
    judged,
    commands: commandsOf(ours, nodes, nowMs),
    draining: drainingOf(ours, nodes),
    proven,
    canaries: canariesOf(state, targets, proven, nowMs),
    notes: new Map(),
    created: [],
    deleted: [],
    taken: new Set(),
    events: new WaitingEvents(ports, saidMax),
    kept: new Map(),
    unconsolidatable: new Set(),
    memory,
    asked,
  };
}

/**
 * One pass: says which nodes are not what their NodePool and EC2NodeClass ask for, goes on with
 * replacements that are under way, removes nodes that nothing runs on, and begins others. Where it
 * has got to stands in the objects.
 */
export async function disrupt(
  ports: Ports,
  settings: AppSettings,
  options: DisruptOptions = {},
): Promise<DisruptReport> {
  const pass = await observe(ports, settings, options);
  const { created, deleted, kept, failures, shadow } = pass;
  if (await shadow.isCast()) {
    const message = 'Karpenter runs here: nothing is written';
    await recordNothing({ ports }, 'karpenter-runs', 'NodeClaims', message, 'disrupt');
    return { created, deleted, kept, failures };
  }
  await markDrift(pass);
  await markConsolidatable(pass);
  await forgetCanaries(pass);
  await noteCanaries(pass);
  await followCommands(pass);
  await removeEmpty(pass);
  await startCommands(pass);
  await consolidateNodes(pass);
  await sayUnconsolidatable(pass);
  return { created, deleted, kept, failures };
}
