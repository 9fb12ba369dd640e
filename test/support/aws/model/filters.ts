import type { Filter, Tag } from '@aws-sdk/client-ec2';

/** Values that a filter's name stands for; `undefined`: the model does not know the name. */
export type Attributes = (name: string) => readonly string[] | undefined;

/** `*` stands for any text, `?` for one character. */
function pattern(text: string): RegExp {
  const escaped = text.replaceAll(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replaceAll('*', '.*').replaceAll('?', '.')}$`);
}

export function tagAttributes(tags: readonly Tag[], others: Attributes): Attributes {
  return (name) => {
    if (name === 'tag-key') return tags.flatMap(({ Key }) => Key ?? []);
    if (!name.startsWith('tag:')) return others(name);
    const key = name.slice('tag:'.length);
    return tags.filter((each) => each.Key === key).flatMap(({ Value }) => Value ?? []);
  };
}

/**
 * Filters are joined with AND, the values of one with OR.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/Using_Filtering.html
 */
export function meetsFilters(filters: readonly Filter[] | undefined, of: Attributes): boolean {
  return (filters ?? []).every(({ Name = '', Values = [] }) => {
    const actual = of(Name);
    if (actual === undefined) throw new Error(`filter "${Name}" is unknown to the model`);
    return Values.some((each) => actual.some((value) => pattern(each).test(value)));
  });
}
