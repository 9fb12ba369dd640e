import * as z from 'zod';
import { ALIAS_FAMILIES } from '../../core/launch/image-families/families.ts';
import { type Rule, withRules } from '../schema/rule.ts';

const tagMap = z.record(
  z.string(),
  z.string().meta({ description: "The tag's value; * stands for any." }),
);

/** Tags to select by; `*` stands for any value. */
const tags = withRules(tagMap, [
  {
    cel: "self.all(key, key != '' && self[key] != '')",
    message: 'empty tag keys or values are not supported',
    check: (map) => Object.entries(map).every(([key, value]) => key !== '' && value !== ''),
  },
  {
    cel: 'size(self) <= 20',
    message: 'at most 20 tags are supported',
    check: (map) => Object.keys(map).length <= 20,
  },
]).meta({ maxProperties: 20 });

function id(prefix: string) {
  return z
    .string()
    .regex(new RegExp(`^${prefix}-[0-9a-z]+$`), {
      message: `must be an id such as ${prefix}-0abc12`,
    })
    .optional();
}

const owner = z
  .string()
  .regex(/^[0-9]{12}$/, { message: 'must be an account number of 12 digits' })
  .optional();

type Term = Readonly<Record<string, unknown>>;

function isSet(term: Term, field: string): boolean {
  return term[field] !== undefined;
}

function atLeastOne(fields: readonly string[]): Rule<Term> {
  return {
    cel: fields.map((field) => `has(self.${field})`).join(' || '),
    message: `expected at least one, got none, [${fields.map((each) => `'${each}'`).join(', ')}]`,
    check: (term) => fields.some((field) => isSet(term, field)),
  };
}

/** A field that stands alone in its term. */
function exclusive(field: string, others: readonly string[], list: string): Rule<Term> {
  const rest = others.map((each) => `has(self.${each})`).join(' || ');
  return {
    cel: `!has(self.${field}) || !(${rest})`,
    message: `'${field}' is mutually exclusive, cannot be set with a combination of other fields in ${list}`,
    check: (term) => !isSet(term, field) || !others.some((each) => isSet(term, each)),
  };
}

export const subnetSelectorTerms = z
  .array(
    withRules(z.strictObject({ tags: tags.optional(), id: id('subnet') }), [
      atLeastOne(['tags', 'id']),
      exclusive('id', ['tags'], 'a term in subnetSelectorTerms'),
    ]),
  )
  .min(1)
  .max(30);

export const securityGroupSelectorTerms = z
  .array(
    withRules(
      z.strictObject({ tags: tags.optional(), id: id('sg'), name: z.string().min(1).optional() }),
      [
        atLeastOne(['tags', 'id', 'name']),
        exclusive('id', ['tags', 'name'], 'a term in securityGroupSelectorTerms'),
        exclusive('name', ['tags', 'id'], 'a term in securityGroupSelectorTerms'),
      ],
    ),
  )
  .min(1)
  .max(30);

export const capacityReservationSelectorTerms = z
  .array(
    withRules(
      z.strictObject({
        tags: tags.optional(),
        id: id('cr'),
        instanceMatchCriteria: z.enum(['open', 'targeted']).optional(),
        ownerID: owner,
      }),
      [
        atLeastOne(['tags', 'id', 'instanceMatchCriteria']),
        exclusive(
          'id',
          ['tags', 'instanceMatchCriteria', 'ownerID'],
          'a term in capacityReservationSelectorTerms',
        ),
      ],
    ),
  )
  .max(30)
  .optional();

function familyOf(alias: string): string {
  return alias.split('@')[0] ?? '';
}

const ALIAS_NAMES = [...ALIAS_FAMILIES.keys()];

const alias = withRules(z.string().max(30), [
  {
    cel: "self.matches('^[a-zA-Z0-9]+@.+$')",
    message: "'alias' is improperly formatted, must match the format 'family@version'",
    check: (text) => /^[a-zA-Z0-9]+@.+$/.test(text),
  },
  {
    cel: `self.split('@')[0] in [${ALIAS_NAMES.map((each) => `'${each}'`).join(', ')}]`,
    message: `family is not supported, must be one of the following: ${ALIAS_NAMES.join(', ')}`,
    check: (text) => ALIAS_NAMES.includes(familyOf(text)),
  },
  {
    cel: "!self.startsWith('windows') || self.endsWith('@latest')",
    message: "windows families may only specify version 'latest'",
    check: (text) => !text.startsWith('windows') || text.endsWith('@latest'),
  },
]);

const AMI_FIELDS = ['alias', 'tags', 'id', 'name', 'owner', 'ssmParameter'] as const;

function others(field: string): readonly string[] {
  return AMI_FIELDS.filter((each) => each !== field);
}

const amiTerm = withRules(
  z.strictObject({
    alias: alias.optional(),
    tags: tags.optional(),
    id: id('ami'),
    name: z.string().min(1).optional(),
    owner: z.string().min(1).optional(),
    ssmParameter: z.string().min(1).optional(),
  }),
  [
    atLeastOne(['tags', 'id', 'name', 'alias', 'ssmParameter']),
    exclusive('alias', others('alias'), 'a term in amiSelectorTerms'),
    exclusive('id', others('id'), 'a term in amiSelectorTerms'),
    exclusive('ssmParameter', others('ssmParameter'), 'a term in amiSelectorTerms'),
  ],
);

export const amiSelectorTerms = withRules(z.array(amiTerm).min(1).max(30), [
  {
    cel: '!self.exists(term, has(term.alias)) || size(self) == 1',
    message:
      "'alias' is mutually exclusive, cannot be set with a combination of other amiSelectorTerms",
    check: (terms) => terms.length === 1 || !terms.some((each) => each.alias !== undefined),
  },
]);

export const placementGroupSelector = withRules(
  z.strictObject({ name: z.string().min(1).max(255).optional(), id: id('pg') }),
  [
    {
      cel: 'has(self.name) != has(self.id)',
      message: "must specify exactly one of ['name', 'id']",
      check: (term) => (term.name === undefined) !== (term.id === undefined),
    },
  ],
);
