import { ARCH, normalizeLabelKey } from '../../shared/core/model/labels.ts';
import {
  type NodeSelectorTerm,
  type Pod,
  type PodSpec,
  podKey,
} from '../../shared/core/model/pod.ts';
import { allows } from '../../shared/core/requirements/value-set.ts';
import { nodeTermsOf } from '../../shared/core/scheduling/problem/node-terms.ts';
import { counted } from '../words.ts';
import { type Advice, EVALUATED_MAX } from './advice.ts';
import { chosenOf, launchesText } from './offerings.ts';
import { type Replanned, withSpecs } from './replanned.ts';
import { type Workload, workloadsOf } from './workloads.ts';

const ARM64 = 'arm64';

/** Whether its node selector or required node affinity keeps the pod from arm64 nodes. */
function excludesArm64({ spec }: Pod): boolean {
  const terms = nodeTermsOf(spec);
  const isKept = terms.every((term) => {
    const set = term.get(ARCH);
    return set !== undefined && !allows(set, ARM64);
  });
  return isKept && terms.length > 0;
}

function withoutArchitecture(term: NodeSelectorTerm): NodeSelectorTerm {
  const matchExpressions = term.matchExpressions.filter(({ key }) => key !== ARCH);
  return { ...term, matchExpressions };
}

/** The spec without what it says of architectures. A term that says nothing else allows all. */
function onAnyArchitecture(spec: PodSpec): PodSpec {
  const nodeSelector = Object.fromEntries(
    Object.entries(spec.nodeSelector).filter(([key]) => normalizeLabelKey(key) !== ARCH),
  );
  const terms = spec.requiredNodeAffinity?.map(withoutArchitecture);
  const isOpen = terms?.some(
    ({ matchExpressions, matchFields }) => matchExpressions.length + matchFields.length === 0,
  );
  return { ...spec, nodeSelector, requiredNodeAffinity: isOpen === true ? undefined : terms };
}

function adviceOn(replanned: Replanned, { object, pods }: Workload): Advice | undefined {
  const keys = new Set(pods.map(podKey));
  const found = replanned.saving((snapshot) => withSpecs(snapshot, keys, onAnyArchitecture));
  if (found === undefined) return undefined;
  const { before, after, usdPerMonth, claims } = found;
  const added = claims.filter((claim) => {
    const isArm64 =
      chosenOf(replanned.snapshot, claim)?.type.labels[ARCH]?.includes(ARM64) === true;
    return isArm64 && claim.pods.some((pod) => keys.has(pod));
  });
  if (added.length === 0) return undefined;
  return {
    kind: 'architecture',
    object,
    change: `Build the images for arm64, and remove ${ARCH} from the node selector or affinity.`,
    usdPerMonth,
    basis: 'planned-anew',
    before,
    after,
    evidence: [
      `Of its pods, ${pods.length} may not run on arm64 nodes.`,
      `Planned anew, they run on ${counted(added.length, 'arm64 node')}: ${launchesText(added)}.`,
    ],
  };
}

/** Workloads whose pods are kept from arm64 nodes, as far as their specs say it. */
export function architectureAdvice(
  replanned: Replanned,
  say: (what: string) => void,
): { readonly advice: readonly Advice[]; readonly left: number } {
  const bound = workloadsOf(replanned.snapshot.pods.filter(excludesArm64));
  const advice = bound.slice(0, EVALUATED_MAX).flatMap((each) => {
    say(`${each.object}: architecture`);
    return adviceOn(replanned, each) ?? [];
  });
  return { advice, left: Math.max(0, bound.length - EVALUATED_MAX) };
}
