/** One line of Joiner made wrong, and what becomes of clusters then. */
export interface Mutant {
  readonly name: string;
  readonly file: string;
  /** A text that is there once, and what stands in its place. */
  readonly from: string;
  readonly to: string;
}

/** Each has to be seen by the simulator within 200 seeds. */
export const MUTANTS: readonly Mutant[] = [
  {
    name: 'a budget lets one node more go',
    file: 'shared/core/disruption/budgets.ts',
    from: 'return Math.max(0, most - nodes.disrupted);',
    to: 'return Math.max(0, most - nodes.disrupted + 1);',
  },
  {
    name: 'do-not-disrupt does not protect pods',
    file: 'shared/core/lifecycle/drain.ts',
    from: "if (value === 'true') return true;\n  const protectedMs = parseDurationMs(value) ?? 0;",
    to: "if (value === 'true') return true;\n  const protectedMs = 0 * (parseDurationMs(value) ?? 0);",
  },
  {
    name: 'an instance without a NodeClaim is never terminated',
    file: 'shared/core/lifecycle/garbage.ts',
    from: "each.state !== 'shutting-down' && nowMs - each.launchedAtMs > GRACE_MS",
    to: "each.state === 'shutting-down' && nowMs - each.launchedAtMs > GRACE_MS",
  },
  {
    name: 'a node that never registers is kept',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'second !== undefined) && waited >= REGISTRATION_TIMEOUT_MS',
    to: 'second !== undefined) && waited >= 1e3 * REGISTRATION_TIMEOUT_MS',
  },
  {
    name: 'Karpenter is never seen to lead',
    file: 'shared/app/settings.ts',
    from: 'return karpenterRenewedAtMs !== undefined && nowMs - karpenterRenewedAtMs < KARPENTER_ALIVE_MS;',
    to: 'return karpenterRenewedAtMs !== undefined && nowMs < karpenterRenewedAtMs;',
  },
  {
    name: 'the finalizer of a NodeClaim goes before its instance',
    file: 'shared/core/lifecycle/termination.ts',
    from: "if (instanceId === undefined || around.instance === 'absent') return finish(claim, around);",
    to: "if (instanceId !== undefined || around.instance === 'absent') return finish(claim, around);",
  },
  {
    name: 'a drain does not wait for its pods',
    file: 'shared/core/lifecycle/termination.ts',
    from: 'step.waiting.length > 0 || !isSettled(claim, around)',
    to: 'step.waiting.length < 0 || !isSettled(claim, around)',
  },
  {
    name: 'a draining node is not tainted',
    file: 'shared/core/lifecycle/termination.ts',
    from: 'taints: [...node.taints, DISRUPTED] });',
    to: 'taints: [...node.taints] });',
  },
  {
    name: 'a taint that nobody needs stays',
    file: 'shared/core/disruption/commands.ts',
    from: "return isDisrupted(node) || isTrue(claim, 'DisruptionReason') ? [{ node, claim }] : [];",
    to: "return isDisrupted(node) && !isTrue(claim, 'DisruptionReason') ? [] : [];",
  },
  {
    name: 'limits of a NodePool do not count its nodes',
    file: 'shared/core/scheduling/search/budgets.ts',
    from: 'if (node.labels[NODE_POOL] !== pool.name) continue;',
    to: 'if (node.labels[NODE_POOL] !== undefined) continue;',
  },
  {
    name: 'the deadline of a drain has passed from its beginning',
    file: 'shared/core/lifecycle/termination.ts',
    from: 'return grace === undefined || deletedAtMs === undefined ? undefined : deletedAtMs + grace;',
    to: 'return deletedAtMs === undefined ? undefined : deletedAtMs + 0 * (grace ?? 0);',
  },
  {
    name: 'an instance that is gone leaves its NodeClaim',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'if (gone !== undefined) {\n    return { kind',
    to: 'if (gone === undefined && claim.name === gone) {\n    return { kind',
  },
  {
    name: 'a Node that is deleted leaves its NodeClaim',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'if (around.nodes.some((node) => node.deletedAtMs !== undefined)) {',
    to: 'if (around.nodes.some((node) => node.deletedAtMs === 0)) {',
  },
  {
    name: 'a Node that is removed by force leaves its NodeClaim',
    file: 'shared/core/lifecycle/removed-node.ts',
    from: "registered?.status !== 'True' || claim.nodeName === undefined",
    to: "registered?.status !== 'True' || claim.nodeName !== undefined",
  },
  {
    name: 'a node that does not join is waited for for an hour',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'second !== undefined) && waited >= REGISTRATION_TIMEOUT_MS',
    to: 'second !== undefined) && waited >= 4 * REGISTRATION_TIMEOUT_MS',
  },
  {
    name: 'an expired node stays',
    file: 'shared/core/lifecycle/claim.ts',
    from: "claim.expireAfter !== 'Never' && age >= claim.expireAfter && !isExpiryHeld",
    to: "claim.expireAfter !== 'Never' && age < claim.expireAfter && isExpiryHeld",
  },
  {
    name: 'nodes that have not joined are not planned with',
    file: 'shared/core/scheduling/problem/state-node.ts',
    from: 'filter((claim) => !joined.has(claim)).map(fromClaim)',
    to: 'filter((claim) => !joined.has(claim) && joined.has(claim)).map(fromClaim)',
  },
  {
    name: 'nodes that go count for no budget',
    file: 'shared/core/disruption/budgets.ts',
    from: 'undefined || node === undefined) return true;\n  return isDisrupted(node) ||',
    to: 'undefined && node === undefined) return true;\n  return node === undefined ||',
  },
  {
    name: 'a window of a NodePool pauses no disruption',
    file: 'shared/app/disrupt/blocked.ts',
    from: "const window = pool && pauseWindow(pool, 'disrupt', nowMs);",
    to: "const window = pool && pauseWindow(pool, 'disrupt', 0 * nowMs);",
  },
  {
    name: 'a window of a NodePool pauses no launches',
    file: 'shared/app/planning/statuses.ts',
    from: "const window = pauseWindow(pool, 'launch', nowMs);",
    to: "const window = pauseWindow(pool, 'launch', 0 * nowMs);",
  },
  {
    name: 'empty nodes stay',
    file: 'shared/core/disruption/emptiness.ts',
    from: 'return isEmpty(candidate) && !candidate.pods.some((pod) => isGoing(pod, nowMs));',
    to: 'return !isEmpty(candidate) && isEmpty(candidate) && nowMs === 0;',
  },
  {
    name: 'drift is not seen',
    file: 'shared/core/disruption/drift.ts',
    from: '.filter(({ isMet }) => isMet === false)',
    to: '.filter(({ isMet, isAdopted }) => isMet === false && isAdopted === true)',
  },
  {
    name: 'pods that would have to wait hinder no disruption',
    file: 'shared/core/disruption/simulation.ts',
    from: "if (moving.has(pod)) return reason('pod-would-wait', { pod, why: message });",
    to: "if (moving.has(message)) return reason('pod-would-wait', { pod, why: message });",
  },
  {
    name: 'a node that is not ready is initialised',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'if (waiting !== undefined) return saying(claim, waiting);\n  const initialized',
    to: 'if (waiting === undefined) return saying(claim, waiting);\n  const initialized',
  },
  {
    name: 'a launch that never ends is waited for',
    file: 'shared/core/lifecycle/claim.ts',
    from: '?? nowMs) < LAUNCH_TIMEOUT_MS) return [];',
    to: '?? nowMs) < 1e4 * LAUNCH_TIMEOUT_MS) return [];',
  },
  {
    name: 'a node whose moves its pods held is moved again at once',
    file: 'shared/core/disruption/held-moves.ts',
    from: 'untilMs: nowMs + waitMsOf(next) };',
    to: 'untilMs: nowMs + 0 * waitMsOf(next) };',
  },
  {
    name: 'a move begins right before a pause window',
    file: 'shared/app/disrupt/blocked.ts',
    from: 'const MOVE_MS = 10 * 60_000;',
    to: 'const MOVE_MS = 0 * 60_000;',
  },
  {
    name: 'consolidation moves nothing',
    file: 'shared/core/disruption/consolidation/consolidate.ts',
    from: 'return { moves: best?.moves ?? [], refusals',
    to: 'return { moves: best === undefined ? [] : best.moves.slice(0, 0), refusals',
  },
  {
    name: 'budgets with a schedule never hold',
    file: 'shared/core/disruption/budgets.ts',
    from: 'isWithin(schedule, durationMs, nowMs);',
    to: 'isWithin(schedule, 0 * durationMs, nowMs);',
  },
  {
    name: 'young fallbacks return',
    file: 'shared/core/disruption/return.ts',
    from: 'const leftMs = createdAtMs + terms.afterMs - nowMs;',
    to: 'const leftMs = createdAtMs + 0 * terms.afterMs - nowMs;',
  },
  {
    name: 'nodes with pods go for cost with WhenEmpty, too',
    file: 'shared/core/disruption/not-due.ts',
    from: "consolidationPolicy === 'WhenEmpty' && !isEmpty(each)",
    to: "consolidationPolicy === 'WhenEmpty' && isEmpty(each)",
  },
  {
    name: 'consolidateAfter is over at once',
    file: 'shared/core/disruption/pod-events.ts',
    from: 'quietSinceMs(candidate, nowMs) + consolidateAfter;',
    to: 'quietSinceMs(candidate, nowMs) + 0 * consolidateAfter;',
  },
  {
    name: 'a static NodePool keeps what it has too much',
    file: 'shared/app/provision/static-capacity.ts',
    from: 'if (claims.length <= replicas) return;',
    to: 'if (claims.length >= replicas) return;',
  },
  {
    name: 'of a static NodePool one node too many goes',
    file: 'shared/app/provision/static-capacity.ts',
    from: '.slice(0, surplus)',
    to: '.slice(0, surplus + 1)',
  },
  {
    name: 'launches keep to no minValues',
    file: 'shared/core/scheduling/search/min-values.ts',
    from: "problem.settings.minValuesPolicy === 'Strict' &&\n    pool",
    to: "problem.settings.minValuesPolicy !== 'Strict' &&\n    pool",
  },
  {
    name: 'a guard lets young nodes be moved',
    file: 'shared/core/disruption/consolidation/consolidation-guard.ts',
    from: 'nowMs - createdAtMs >= guard.ageMs',
    to: 'nowMs - createdAtMs >= 0 * guard.ageMs',
  },
  {
    name: 'fallbacks return as many as there are',
    file: 'shared/core/disruption/budgets.ts',
    from: "terms === undefined || isReason(terms) ? '0' : terms.nodes;",
    to: "terms === undefined || isReason(terms) ? '0' : '9'.concat(terms.nodes);",
  },
  {
    name: 'replacements keep to no minValues',
    file: 'shared/core/disruption/consolidation/narrowing.ts',
    from: 'if (!keepsMinValues(narrow, left)) continue;',
    to: 'if (!keepsMinValues(narrow, left) && kept.length === 0) continue;',
  },
  {
    name: 'a guard shortens no horizon',
    file: 'shared/core/disruption/consolidation/consolidation-guard.ts',
    from: 'return horizonMs ?? Math.min(',
    to: 'return Math.min(1e6 * (horizonMs ?? lastMs), ',
  },
  {
    name: 'a pause of terminations holds none',
    file: 'shared/app/lifecycle/claim-steps.ts',
    from: 'if (isPaused(state.pausedUntilMs.terminate, nowMs)) {',
    to: 'if (isPaused(state.pausedUntilMs.terminate, nowMs) && nowMs < 0) {',
  },
  {
    name: 'a pause of launches holds none',
    file: 'shared/app/provision/provision.ts',
    from: 'if (!isPaused(state.pausedUntilMs.launch, ports.clock.nowMs())) return undefined;',
    to: 'if (!isPaused(state.pausedUntilMs.launch, 2 * ports.clock.nowMs())) return undefined;',
  },
  {
    name: 'expiry goes on in a pause',
    file: 'shared/app/lifecycle/lifecycle.ts',
    from: "isHeld('disrupt') ||\n      isHeld('launch') ||",
    to: '',
  },
  {
    name: 'a Capacity Block ends with pods on its nodes',
    file: 'shared/core/lifecycle/ending-blocks.ts',
    from: "reservationType === 'capacity-block' && state === 'expiring'",
    to: "reservationType === 'capacity-block' && state !== 'expiring' && state !== 'active'",
  },
  {
    name: 'an instance whose reservation has ended counts as reserved',
    file: 'shared/core/lifecycle/claim.ts',
    from: 'around.isUnreserved === true && claim.labels[CAPACITY_TYPE] === RESERVED',
    to: 'around.isUnreserved === true && claim.labels[CAPACITY_TYPE] === undefined',
  },
  {
    name: 'nodes are launched into a Capacity Block that is about to end',
    file: 'shared/catalog/offerings.ts',
    from: "available: available > 0 && state !== 'expiring',",
    to: 'available: available >= 0 && state.length > 0,',
  },
  {
    name: 'a drain does not wait for its volumes',
    file: 'shared/core/lifecycle/termination.ts',
    from: 'if (around.blockingAttachments.length > 0 && !isPastDeadline) {',
    to: 'if (around.blockingAttachments.length < 0 && !isPastDeadline) {',
  },
];
