import type { Disruption } from '../../shared/app/disrupt/pass.ts';
import { listPrice } from '../../shared/catalog/list-price.ts';
import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { sentences } from '../../shared/core/explain/reason.ts';
import { nodeClassOf } from '../../shared/core/launch/node-classes.ts';
import { nodeClassHash } from '../../shared/core/launch/template-hash.ts';
import { nodeOfClaim, podsOnNode } from '../../shared/core/model/joins.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  type Labels,
  NODE_POOL,
  ZONE,
} from '../../shared/core/model/labels.ts';
import type { OfferingChoice } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import type { NewNodeClaim } from '../../shared/ports.ts';
import type { Previewed } from '../../shared/preview/copy.ts';
import type { DryRun } from '../../shared/preview/dry-run.ts';
import { plannedOffering } from '../../shared/preview/launches.ts';
import type { ClaimTerms, Decision, NodeTerms, PodTerms } from './decision.ts';
import { type Grounds, reliedOn } from './relied-on.ts';

/** What Joiner writes for itself says nothing of what the node will be. */
const OWN = 'joiner.dev/';

function seconds(ms: number | 'Never' | undefined): number | null {
  return typeof ms === 'number' ? ms / 1000 : null;
}

function podTerms(pods: readonly Pod[]): PodTerms[] {
  return pods
    .map((pod) => ({ pod: podKey(pod), uid: pod.uid }))
    .sort((a, b) => (a.pod < b.pod ? -1 : 1));
}

/** What goes with one node. */
export function movingPods({ between }: Pick<DryRun, 'between'>, claim: NodeClaim): Pod[] {
  const { nodes, pods } = between.objects;
  return podsOnNode(pods, nodeOfClaim(nodes, claim)?.name).filter(isReschedulable);
}

function nodeTerms(run: DryRun, { prices }: Previewed, claim: NodeClaim): NodeTerms {
  const { name, uid, labels } = claim;
  const node = nodeOfClaim(run.between.objects.nodes, claim);
  return {
    nodeClaim: name,
    uid,
    node: node?.name ?? null,
    nodePool: labels[NODE_POOL] ?? '',
    instanceType: labels[INSTANCE_TYPE] ?? null,
    zone: labels[ZONE] ?? null,
    capacityType: labels[CAPACITY_TYPE] ?? null,
    pricePerHour: listPrice(prices, labels) ?? null,
    pods: podTerms(movingPods(run, claim)),
  };
}

function chosenTerms(chosen: OfferingChoice | undefined): ClaimTerms['chosen'] {
  if (chosen === undefined) return null;
  const { type, zone, capacityType, price } = chosen;
  return { type, zone, capacityType, pricePerHour: price };
}

function others(annotations: Labels): Record<string, string> {
  return Object.fromEntries(Object.entries(annotations).filter(([key]) => !key.startsWith(OWN)));
}

function claimTerms(
  { copy }: DryRun,
  asked: NewNodeClaim,
  chosen: OfferingChoice | undefined,
): ClaimTerms {
  const { labels, annotations, requirements, requests, taints, startupTaints } = asked;
  const nodeClass = nodeClassOf(copy.state, asked.nodeClassRef);
  return {
    nodePool: labels[NODE_POOL] ?? '',
    chosen: chosenTerms(chosen),
    requirements: requirements.map(({ key, operator, values, minValues }) => ({
      key,
      operator,
      values: [...values],
      minValues: minValues ?? null,
    })),
    requests: { ...formatResources(requests) },
    labels: { ...labels },
    annotations: others(annotations),
    taints: [...taints],
    startupTaints: [...startupTaints],
    expireAfterSeconds: seconds(asked.expireAfter),
    terminationGracePeriodSeconds: seconds(asked.terminationGracePeriodMs),
    nodeClass: asked.nodeClassRef.name,
    nodeClassHash: nodeClass === undefined ? '' : nodeClassHash(nodeClass),
    images: (nodeClass?.status.images ?? []).map(({ id }) => id).sort(),
  };
}

/** Of claims that were written without a plan for pods: what they are expected to be. */
function writtenTerms(run: DryRun, { catalog }: Previewed, claims: readonly NodeClaim[]) {
  const { instanceTypes } = run.provisioning.snapshot;
  return claims.flatMap((claim) => {
    const asked = run.copy.cluster.asked.get(claim.name);
    const chosen = plannedOffering(claim, instanceTypes, catalog.region);
    return asked === undefined ? [] : [claimTerms(run, asked, chosen)];
  });
}

/** What of a decision is known before what it goes by is added. */
type Bare = Omit<Decision, 'reliesOn'>;

function withGrounds(run: DryRun, input: Previewed, bare: Bare, pods: readonly Pod[]): Decision {
  const claims = new Map(run.between.objects.nodeClaims.map((claim) => [claim.uid, claim]));
  const leaving = bare.nodes.flatMap(({ uid }) => claims.get(uid) ?? []);
  const pools = new Set([bare.nodePool, ...bare.claims.map(({ nodePool }) => nodePool)]);
  const classes = new Set(bare.claims.map(({ nodeClass }) => nodeClass));
  const all = [...pods, ...leaving.flatMap((claim) => movingPods(run, claim))];
  const grounds: Grounds = { pools, classes, claims: leaving, pods: all };
  return { ...bare, reliesOn: reliedOn(run.copy.state, input.settings, grounds) };
}

function provisionedOf(run: DryRun, input: Previewed): Decision[] {
  const byKey = new Map(run.provisioning.snapshot.pods.map((pod) => [podKey(pod), pod]));
  return run.written.flatMap(({ claim, pods: keys }) => {
    const asked = run.copy.cluster.asked.get(claim.name);
    const planned = run.plan.newNodeClaims.find((each) => each.pods === keys);
    if (asked === undefined || planned === undefined) return [];
    const pods = keys.flatMap((key) => byKey.get(key) ?? []);
    const { runnerUp, nodePool } = planned;
    const why = runnerUp === undefined ? 'no other offering fits' : `runner-up: ${runnerUp.why}`;
    const claims = [claimTerms(run, asked, planned.chosen)];
    const bare = { reason: 'Provisioned', nodePool, why, claims, nodes: [] } as const;
    return [withGrounds(run, input, { ...bare, claims, pods: podTerms(pods), nodes: [] }, pods)];
  });
}

function staticOf(run: DryRun, input: Previewed): Decision[] {
  const { created, deleted } = run.fixed;
  const gone = run.copy.state.objects.nodeClaims.filter(({ uid }) => deleted.includes(uid));
  const byPool = Map.groupBy([...created, ...gone], ({ labels }) => labels[NODE_POOL] ?? '');
  return [...byPool].map(([nodePool, all]) => {
    const claims = writtenTerms(
      run,
      input,
      all.filter((each) => created.includes(each)),
    );
    const nodes = all
      .filter((each) => gone.includes(each))
      .map((each) => nodeTerms(run, input, each));
    const why = 'spec.replicas of its NodePool';
    return withGrounds(
      run,
      input,
      { reason: 'Static', nodePool, why, claims, pods: [], nodes },
      [],
    );
  });
}

function disruptionOf(run: DryRun, input: Previewed, disruption: Disruption): Decision {
  const { reason, claims: leaving, replacements, reasons } = disruption;
  const why = sentences(reasons);
  const nodes = leaving.map((claim) => nodeTerms(run, input, claim));
  const claims = writtenTerms(run, input, replacements);
  const nodePool = nodes[0]?.nodePool ?? '';
  return withGrounds(run, input, { reason, nodePool, why, claims, pods: [], nodes }, []);
}

/** What was decided anew, each decision as somebody may approve it. */
export function decisionsOf(run: DryRun, input: Previewed): readonly Decision[] {
  return [
    ...staticOf(run, input),
    ...provisionedOf(run, input),
    ...run.disruptions.map((each) => disruptionOf(run, input, each)),
  ];
}

/** What an approved decision is about, as it is now. */
export function asItIsNow(
  run: DryRun,
  input: Previewed,
  approved: Decision,
): Pick<Decision, 'nodes' | 'reliesOn'> {
  const uids = new Set(approved.nodes.map(({ uid }) => uid));
  const keys = new Set(approved.pods.map(({ pod }) => pod));
  const { nodeClaims, pods } = run.copy.state.objects;
  const nodes = nodeClaims
    .filter(({ uid }) => uids.has(uid))
    .map((claim) => nodeTerms(run, input, claim));
  const own = pods.filter((pod) => keys.has(podKey(pod)));
  return { nodes, reliesOn: withGrounds(run, input, { ...approved, nodes }, own).reliesOn };
}
