  let resourceAttr: Fields = NOTHING;
  if (plan.readsResource === true) {
    const { attr } = resource;
    if (isObject(attr) && !Array.isArray(attr) && (attr.__proto__ === OBJECT || isPlain(attr))) resourceAttr = attr;
    else if (attr !== undefined || !hasOnly(resource, RESOURCE_MEMBERS)) return UNSURE;
  }

//= include values
