import {
  beginDisruption,
  deleteNodeClaim,
  followCommands,
} from '../../shared/app/disrupt/commands.ts';
import { markConsolidatable } from '../../shared/app/disrupt/consolidatable.ts';
import { consolidationOf } from '../../shared/app/disrupt/consolidation-input.ts';
import { observePass } from '../../shared/app/disrupt/disrupt.ts';
import { emptiness } from '../../shared/app/disrupt/emptiness.ts';
import type { DisruptPass } from '../../shared/app/disrupt/pass.ts';
import { createReplacements, replacementClaims } from '../../shared/app/disrupt/replacements.ts';
import { launchClaims } from '../../shared/app/launch/launch.ts';
import { LaunchPause } from '../../shared/app/planning/launch-pause.ts';
import { plannedClaim } from '../../shared/app/planning/new-claims.ts';
import { observe } from '../../shared/app/planning/provisioning-input.ts';
import { type RulesCommand, RulesSearch } from '../../shared/core/comparison/karpenters-way.ts';
import { reason } from '../../shared/core/explain/reason.ts';
import { missing } from '../../shared/core/missing.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { firstFit } from '../../shared/core/scheduling/first-fit/first-fit.ts';
import { World } from '../../shared/sim/world.ts';

/** Karpenter looks every ten seconds: so many commands may begin in a minute. */
const COMMANDS_MAX = 6;

/**
 * A world in which Karpenter's published rules decide what is launched and what is consolidated.
 * Launches, joins, drains, budgets, consolidateAfter and kube-scheduler are those of every world;
 * no pod is nominated to a node.
 */
export class KarpentersWorld extends World {
  /** Of the cluster in which nothing was found. */
  private nothingAt = -1;

  protected override async provisioned(): Promise<ReadonlyMap<string, string>> {
    const { ports, settings } = this;
    const { state: before, pools, typesOf, ...input } = await observe(ports, settings, []);
    // Pods take room until they are gone.
    const snapshot = { ...input.snapshot, pods: before.objects.pods };
    const plan = firstFit(snapshot, settings.scheduling);
    for (const planned of plan.newNodeClaims) {
      const { nodePool } = planned;
      const pool = pools.find(({ name }) => name === nodePool) ?? missing(nodePool);
      const types = snapshot.instanceTypes.get(nodePool) ?? missing(nodePool);
      const name = `${nodePool}-${ports.ids.suffix()}`;
      await ports.cluster.createNodeClaim(plannedClaim(planned, pool, types, name, []));
    }
    const state = await ports.cluster.read();
    const pause = new LaunchPause(ports, state, ports.clock.nowMs());
    const remainingMs = () => Number.POSITIVE_INFINITY;
    const launching = { ports, settling: ports, settings, pause, failures: [], remainingMs };
    await launchClaims(launching, state, typesOf);
    return new Map([...plan.unplaced].map(([pod, { message }]) => [pod, message]));
  }

  protected override async disrupted(): Promise<void> {
    for (let commands = 0; commands < COMMANDS_MAX; commands += 1) {
      if (!(await this.beginNext())) break;
    }
  }

  /** Begins the next command; false: there is none. */
  private async beginNext(): Promise<boolean> {
    const { ports, settings, store } = this;
    const pass = await observePass(ports, settings, {});
    await markConsolidatable(pass);
    await followCommands(pass);
    await emptiness.disrupt(pass, emptiness.candidates(pass));
    if (pass.outcome.deleted.length > 0) return true;
    if (this.nothingAt === store.version) return false;
    const input = await consolidationOf(pass);
    const search = new RulesSearch({
      scheduling: settings.scheduling,
      plansMax: Number.POSITIVE_INFINITY,
    });
    const budget = Math.min(...(input?.allowance.values() ?? []));
    const command = input && search.next(input.snapshot, input.candidates, budget);
    if (command === undefined || input === undefined) {
      this.nothingAt = store.version;
      return false;
    }
    return await begin(pass, input.snapshot, command);
  }
}

/** Removes the nodes, or has their replacement launched first; false: it was refused. */
async function begin(
  pass: DisruptPass,
  snapshot: ClusterSnapshot,
  { nodes, plan }: RulesCommand,
): Promise<boolean> {
  const claims = nodes.map(({ claim }) => claim);
  const why = reason('no-replacement-needed', {});
  const replacements = plan.newNodeClaims.flatMap((each) =>
    replacementClaims(pass, snapshot, each),
  );
  const replaced = { claims, replacements, reason: 'Underutilized', why } as const;
  const made = await createReplacements(pass, replaced);
  if (made.length < replacements.length) return false;
  for (const { claim, node } of nodes) {
    if ((await beginDisruption(pass, claim, node, 'Underutilized')) !== 'done') return false;
    if (made.length > 0) continue;
    await deleteNodeClaim(pass, claim, node, { reason: 'Underutilized', reasons: [why] });
  }
  return true;
}
