/**
 * What Node 20 lacks of the language that our tsconfig allows (`lib: es2024`), for the command of the
 * npm package. Imported before it. Node 22 and 24 have all of it.
 */
function groups(items, keyOf, add) {
  let index = 0;
  for (const item of items) add(keyOf(item, index++), item);
}

Map.groupBy ??= (items, keyOf) => {
  const byKey = new Map();
  groups(items, keyOf, (key, item) => {
    const group = byKey.get(key);
    if (group === undefined) byKey.set(key, [item]);
    else group.push(item);
  });
  return byKey;
};

Object.groupBy ??= (items, keyOf) => {
  const byKey = Object.create(null);
  groups(items, keyOf, (key, item) => {
    byKey[key] ??= [];
    byKey[key].push(item);
  });
  return byKey;
};

Promise.withResolvers ??= () => {
  const made = {};
  made.promise = new Promise((resolve, reject) => Object.assign(made, { resolve, reject }));
  return made;
};
