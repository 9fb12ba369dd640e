import { canonicalText } from '../../core/launch/canonical-text.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import { ARCH, INSTANCE_LABELS } from '../../core/model/labels.ts';
import type { Image, NodeClass, SelectorTerm } from '../../core/model/node-class.ts';
import type { RequirementExpression } from '../../core/model/requirement.ts';
import type { Images } from '../../ports.ts';
import type { Found } from './found.ts';

const GPU = INSTANCE_LABELS.gpuCount;
const ACCELERATOR = INSTANCE_LABELS.acceleratorCount;

function is(key: string, value: string): RequirementExpression {
  return { key, operator: 'In', values: [value] };
}

function has(key: string): RequirementExpression {
  return { key, operator: 'Exists', values: [] };
}

function lacks(key: string): RequirementExpression {
  return { key, operator: 'DoesNotExist', values: [] };
}

const VARIANTS: readonly (readonly [string, readonly RequirementExpression[]])[] = [
  ['standard', [lacks(GPU), lacks(ACCELERATOR)]],
  ['nvidia', [has(GPU)]],
  ['neuron', [has(ACCELERATOR)]],
];

function image(name: string, requirements: readonly RequirementExpression[]): Image {
  return { id: `ami-${sha256(name).slice(0, 17)}`, name, deprecated: false, requirements };
}

/** The images behind an alias: by architecture, and by the hardware that needs drivers. */
function imagesOfAlias(alias: string, kubernetes: string): readonly Image[] {
  const isWindows = alias.startsWith('windows');
  return (isWindows ? ['amd64'] : ['amd64', 'arm64']).flatMap((arch) =>
    VARIANTS.map(([variant, requirements]) =>
      image(`${alias.replace('@', '-')}-${kubernetes}-${arch}-${variant}`, [
        is(ARCH, arch),
        ...requirements,
      ]),
    ),
  );
}

function imagesOfTerm(term: SelectorTerm, kubernetes: string): readonly Image[] {
  if (term.alias !== undefined) return imagesOfAlias(term.alias, kubernetes);
  if (term.id !== undefined) {
    const isWellFormed = /^ami-[0-9a-f]{8,17}$/.test(term.id);
    const known = { id: term.id, name: undefined, deprecated: false, requirements: [] };
    return isWellFormed ? [known] : [];
  }
  return [image(JSON.stringify(term), [])];
}

/**
 * Terms find what a real class has found by them. Otherwise any alias resolves, and so does any
 * well-formed image id; other terms find one image.
 */
export class SimulatedImages implements Images {
  private readonly kubernetes: string;
  private readonly found: Found<Image>;

  constructor(kubernetes: string, found: Found<Image> = new Map()) {
    this.kubernetes = kubernetes;
    this.found = found;
  }

  async resolve(nodeClass: NodeClass): Promise<readonly Image[]> {
    const found = this.found.get(canonicalText(nodeClass.amiSelectorTerms));
    if (found !== undefined) return found;
    return nodeClass.amiSelectorTerms.flatMap((term) => imagesOfTerm(term, this.kubernetes));
  }
}
