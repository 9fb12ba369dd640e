import { NormalizedSchema } from '@smithy/core/schema';
import type { StaticListSchema, StaticStructureSchema } from '@smithy/types';
import type { Operation } from './operation.ts';

/** Shapes as the SDK's schemas have them: a structure, a list; 0 is a string, 1 a label of a path. */
const STRUCTURE = 3;
const LIST = 1;
const NAMESPACE = 'com.amazonaws.arczonalshift';

const shift: StaticStructureSchema = [
  STRUCTURE,
  NAMESPACE,
  'ZonalShiftInResource',
  0,
  ['appliedStatus', 'awayFrom'],
  [0, 0],
];
const shifts: StaticListSchema = [LIST, NAMESPACE, 'ZonalShiftsInResource', 0, shift];

/**
 * The one call that is made of ARC, without its SDK.
 * https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
 */
const operation: Operation = {
  name: 'GetManagedResource',
  input: NormalizedSchema.of([
    STRUCTURE,
    NAMESPACE,
    'GetManagedResourceRequest',
    0,
    ['resourceIdentifier'],
    [[0, 1]],
  ]),
  output: NormalizedSchema.of([
    STRUCTURE,
    NAMESPACE,
    'GetManagedResourceResponse',
    0,
    ['arn', 'zonalShifts', 'autoshifts'],
    [0, shifts, shifts],
  ]),
  http: ['GET', '/managedresources/{resourceIdentifier}', 200],
};

export const zonalShiftOperations: ReadonlyMap<string, Operation> = new Map([
  [operation.name, operation],
]);
