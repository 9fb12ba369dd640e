import type { Json } from '../../shared/sim/json.ts';
import type { Note } from './part.ts';

type Texts = Readonly<Record<string, string>>;

/** What nodes of a class may do in AWS, for classes that do not say it. */
export type Identity =
  | { readonly role: string; readonly source: string }
  | { readonly instanceProfile: string; readonly source: string }
  | undefined;

const IDS = ['aws-ids', 'aws::ids'];
const IMAGE_NAME = 'aws::name';
const IMAGE_OWNERS = 'aws::owners';

/** One value stands for any of several, with commas between them. */
function valuesOf(text: string): readonly string[] {
  return text
    .split(',')
    .map((each) => each.trim())
    .filter((each) => each !== '');
}

/** Every choice of one value for each key, in the order of the values. */
function choices(map: Texts): readonly Texts[] {
  return Object.entries(map).reduce<readonly Texts[]>(
    (all, [key, text]) =>
      all.flatMap((one) => valuesOf(text).map((value) => ({ ...one, [key]: value }))),
    [{}],
  );
}

/** A selector of v1alpha1: a term for each id, or for each choice of the values of its tags. */
export function selectorTerms(selector: Texts): readonly Json[] {
  const ids = IDS.flatMap((key) => valuesOf(selector[key] ?? ''));
  if (ids.length > 0) return ids.map((id) => ({ id }));
  return choices(selector).map((tags) => ({ tags }));
}

/** Keys that cannot stand together: ids leave nothing else to select by. */
export function isMixed(selector: Texts): boolean {
  return IDS.some((key) => Object.hasOwn(selector, key)) && Object.keys(selector).length > 1;
}

/** The same of images, which can be selected by name and owner, too. */
export function imageTerms(selector: Texts): readonly Json[] {
  return selectorTerms(selector).map((term) => {
    const { tags } = term;
    if (tags === undefined) return term;
    const { [IMAGE_NAME]: name, [IMAGE_OWNERS]: owner, ...rest } = tags as Texts;
    return {
      ...(name === undefined ? {} : { name }),
      ...(owner === undefined ? {} : { owner }),
      ...(Object.keys(rest).length === 0 ? {} : { tags: rest }),
    };
  });
}

/** Tags of images used to say which instance types they are for. v1beta1 migration guide. */
export function imageNotes(field: string, selector: Texts): readonly Note[] {
  if (IDS.some((key) => Object.hasOwn(selector, key))) return [];
  const message =
    'v1 takes an image for every instance type of its architecture; v1alpha1 also went by tags of the image that are named as node labels: make a NodePool and a class for each such image';
  return [{ field, message }];
}
