import { ARCH, ownValue } from '../model/labels.ts';
import type { Image } from '../model/node-class.ts';
import type { RequirementExpression } from '../model/requirement.ts';
import { canonicalText } from './canonical-text.ts';

/** An image as EC2 describes it. */
export interface CandidateImage {
  readonly id: string;
  readonly name: string | undefined;
  /** `x86_64` or `arm64`; anything else runs nowhere. */
  readonly architecture: string | undefined;
  readonly createdAtMs: number;
  readonly deprecated: boolean;
}

/** An image with what its selector term knows about the types that it is for. */
export interface FoundImage {
  readonly image: CandidateImage;
  /** Undefined: only the architecture counts. */
  readonly requirements: readonly RequirementExpression[] | undefined;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: 'amd64', arm64: 'arm64' };

function requirementsFor(found: FoundImage): readonly RequirementExpression[] | undefined {
  if (found.requirements !== undefined) return found.requirements;
  const arch = ownValue(ARCHITECTURES, found.image.architecture ?? '');
  return arch === undefined ? undefined : [{ key: ARCH, operator: 'In', values: [arch] }];
}

/** Current ones first, then newest first; equal ones by name and id. */
function compare(a: CandidateImage, b: CandidateImage): number {
  return (
    Number(a.deprecated) - Number(b.deprecated) ||
    b.createdAtMs - a.createdAtMs ||
    ((a.name ?? '') < (b.name ?? '') ? -1 : (a.name ?? '') > (b.name ?? '') ? 1 : 0) ||
    (a.id < b.id ? -1 : a.id > b.id ? 1 : 0)
  );
}

/**
 * Per distinct set of requirements the newest image that is not deprecated, else the newest
 * deprecated one. One image may stand in several sets.
 */
export function selectImages(found: readonly FoundImage[]): readonly Image[] {
  const sorted = [...found].sort((a, b) => compare(a.image, b.image));
  const chosen = new Map<string, Image>();
  for (const each of sorted) {
    const requirements = requirementsFor(each);
    if (requirements === undefined) continue;
    const key = canonicalText(requirements);
    if (chosen.has(key)) continue;
    const { id, name, deprecated } = each.image;
    chosen.set(key, { id, name, deprecated, requirements });
  }
  return [...chosen.values()];
}
