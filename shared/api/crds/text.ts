import { stringify } from 'yaml';
import { customResourceDefinitions } from './definitions.ts';

/** The checked-in file of each CRD, by its name `<group>_<plural>.yaml`. */
export function crdFiles(): ReadonlyMap<string, string> {
  return new Map(
    customResourceDefinitions().map((each) => {
      const [plural = '', ...group] = each.metadata.name.split('.');
      const text = stringify(each, { lineWidth: 0, aliasDuplicateObjects: false });
      return [`${group.join('.')}_${plural}.yaml`, text] as const;
    }),
  );
}
