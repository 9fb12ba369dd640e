import * as z from 'zod';
import type { NodeOverlay, PriceChange } from '../core/model/provisioning.ts';
import type { Decoded } from './issue.ts';
import { type DecodedParts, decodeParts, type UnknownFields } from './schema/decode.ts';
import {
  conditions,
  LABEL_VALUE,
  labelKeyFault,
  overlayRequirement,
  requirementExpression,
  resourceList,
  resourcesOf,
} from './schema/parts.ts';
import { withRules } from './schema/rule.ts';

/** Resources that every node measures itself. */
const RESTRICTED = ['cpu', 'memory', 'ephemeral-storage', 'pods'] as const;

/** Resources that instance types have of their own; refused when the overlay is evaluated. */
const WELL_KNOWN_RESOURCES: ReadonlySet<string> = new Set([
  'vpc.amazonaws.com/pod-eni',
  'aws.amazon.com/neuron',
  'aws.amazon.com/neuroncore',
  'habana.ai/gaudi',
  'vpc.amazonaws.com/efa',
]);

const capacity = withRules(resourceList, [
  {
    cel: `self.all(key, !(key in [${RESTRICTED.map((each) => `'${each}'`).join(', ')}]))`,
    message:
      'invalid resource restricted: cpu, memory, ephemeral-storage and pods cannot be overlaid',
    check: (list) => !RESTRICTED.some((name) => Object.hasOwn(list, name)),
  },
]);

const ADJUSTMENT = /^(([+-]{1}(\d*\.?\d+))|(\+{1}\d*\.?\d+%)|(-\d{1,2}(\.\d+)?%)|(-100%))$/;

const spec = withRules(
  z.strictObject({
    requirements: z.array(overlayRequirement()).max(100),
    price: z
      .string()
      .regex(/^\d+(\.\d+)?$/, { message: 'must be a price in dollars per hour such as "0.25"' })
      .optional(),
    priceAdjustment: z
      .string()
      .regex(ADJUSTMENT, {
        message: 'must be signed, such as "-10%", "+0.05" or "+150%", and not below -100%',
      })
      .optional(),
    capacity: capacity.meta({ maxProperties: 100 }).optional(),
    weight: z.int().min(1).max(10_000).optional(),
  }),
  [
    {
      cel: '!has(self.price) || !has(self.priceAdjustment)',
      message: "cannot set both 'price' and 'priceAdjustment'",
      check: ({ price, priceAdjustment }) => price === undefined || priceAdjustment === undefined,
    },
  ],
);

const status = z.object({ conditions });

/** karpenter.sh/v1alpha1 NodeOverlay. https://karpenter.sh/docs/concepts/nodeoverlays/ */
export const NODE_OVERLAY_DEFINITION = {
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  spec,
  status,
} as const;

type Spec = z.output<typeof spec>;

/** Reads a NodeOverlay; what only shows at run time is its `invalid`, not an issue. */
export function decodeNodeOverlay(
  object: unknown,
  unknownFields: UnknownFields = 'refuse',
): Decoded<NodeOverlay> {
  return decodeParts(NODE_OVERLAY_DEFINITION, object, unknownFields, nodeOverlayOf);
}

function nodeOverlayOf({ metadata, spec }: DecodedParts<Spec>): NodeOverlay {
  return {
    name: metadata.name,
    requirements: spec.requirements.map(requirementExpression),
    weight: spec.weight ?? 0,
    priceChange: priceChangeOf(spec),
    capacity: resourcesOf(spec.capacity, 'down'),
    invalid: runtimeFault(spec),
  };
}

function priceChangeOf({ price, priceAdjustment }: Spec): PriceChange | undefined {
  if (price !== undefined) return { kind: 'absolute', price: Number(price) };
  if (priceAdjustment === undefined) return undefined;
  if (priceAdjustment.endsWith('%')) {
    return { kind: 'percent', percent: Number(priceAdjustment.slice(0, -1)) };
  }
  return { kind: 'add', amount: Number(priceAdjustment) };
}

function runtimeFault({ capacity = {}, requirements }: Spec): string | undefined {
  const faults = Object.keys(capacity)
    .filter((name) => WELL_KNOWN_RESOURCES.has(name))
    .map((name) => `invalid capacity: ${name} is restricted`);
  for (const { key, values = [] } of requirements) {
    const fault = labelKeyFault(key);
    if (fault !== undefined) faults.push(fault);
    const malformed = values.find((each) => !LABEL_VALUE.test(each));
    if (malformed !== undefined) faults.push(`"${malformed}" of ${key} is not a label value`);
  }
  return faults.length === 0 ? undefined : faults.join('; ');
}
