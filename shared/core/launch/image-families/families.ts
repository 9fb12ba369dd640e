import { FAMILY_NAMES, type ImageFamily } from '../../model/node-class.ts';
import { AL2, AL2023 } from './amazon-linux.ts';
import { BOTTLEROCKET } from './bottlerocket.ts';
import { type ImageFamilyTraits, LINUX } from './family.ts';
import type { AliasParameters } from './parameters.ts';
import { WINDOWS_2019, WINDOWS_2022, WINDOWS_2025 } from './windows.ts';

/** Images of the user's own, of which nothing is known. */
const CUSTOM: ImageFamilyTraits = {
  ...LINUX,
  alias: undefined,
  parameters: (version) => ({ ok: false, message: `"${version}" is not an alias of images` }),
  takesAnyKubeletField: true,
  storageDevice: undefined,
  defaultVolumes: [],
};

export const IMAGE_FAMILIES: Readonly<Record<ImageFamily, ImageFamilyTraits>> = {
  AL2,
  AL2023,
  Bottlerocket: BOTTLEROCKET,
  Custom: CUSTOM,
  Windows2019: WINDOWS_2019,
  Windows2022: WINDOWS_2022,
  Windows2025: WINDOWS_2025,
};

/** Families by the name that an alias has for them: `al2023` of `al2023@latest`. */
export const ALIAS_FAMILIES: ReadonlyMap<string, ImageFamily> = new Map(
  FAMILY_NAMES.flatMap((family) => {
    const { alias } = IMAGE_FAMILIES[family];
    return alias === undefined ? [] : [[alias, family] as const];
  }),
);

/** Where the ids of an alias's images stand; `kubernetes` is the cluster's version, e.g. 1.33. */
export function aliasParameters(alias: string, kubernetes: string): AliasParameters {
  const [name = '', version = ''] = alias.split('@');
  const family = ALIAS_FAMILIES.get(name);
  if (family === undefined) return { ok: false, message: `"${alias}" is not an alias of images` };
  return IMAGE_FAMILIES[family].parameters(version, kubernetes);
}
