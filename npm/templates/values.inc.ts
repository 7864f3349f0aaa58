  frame.used = ARENA_START;
  const { words, numbers } = frame;
  const { steps, details, from, to } = plan;
  let o: Fields = NOTHING;
  let key = mask;
  let u0: unknown, u1: unknown, u2: unknown, u3: unknown;
  let more: string[] | undefined;
  for (let at = from; at < to; at += 2) {
    const step = steps[at]!;
    if (step & FROM_RESOURCE) o = resourceAttr;
    else if (step & FROM_PRINCIPAL) o = principalAttr;
    let v: unknown;
    switch (step & SITE) {
//= for each site
      case $N: if (n$N in OBJECT) return UNSURE; v = o[n$N]; break;
//= end
      case BY_NAME: {
        const { name } = details[steps[at + 1]! & DETAIL]!;
        if (name in OBJECT) return UNSURE;
        v = o[name];
        break;
      }
      case PRINCIPAL_ID: v = principalId; break;
      case RESOURCE_ID: v = resourceId; break;
      case RESOURCE_KIND: v = kind; break;
      case PRINCIPAL_ROLES: v = roles; break;
      case WHOLE: v = o; break;
      case CLAIMS: v = tokens.jwt; break;
      case TOKENS: v = tokens.jwts; break;
      default: return UNSURE;
    }
    const slot = (step >>> SLOT) & SLOT_MASK;
    if (!(step & LAST)) {
      if (isObject(v) && !Array.isArray(v) && (v.__proto__ === OBJECT || isPlain(v))) {
        o = v;
        continue;
      }
      const word = brokenWord(v, steps[at + 2]!);
      if (word < 0) return UNSURE;
      words[slot] = word;
      operands[slot] = undefined;
      do at += 2; while (at < to && !(steps[at]! & LAST));
      continue;
    }
    if (step & USED) {
      if (step & HELD && !hold(frame, slot, v, step)) return UNSURE;
      if (step & OPERAND) operands[slot] = v;
      if (step & TESTED) {
        const word = testWord(frame, slot, details[steps[at + 1]! & DETAIL]!.test!, v);
        if (word < 0) return UNSURE;
        words[slot] = word;
        key = (key << DIGIT) | (word > TRUE ? ODD : word);
        continue;
      }
    }
    let word = MISSING;
    let digit = MISSING;
    // The order of `true` and `false` is unpredictable, so no branch depends on it.
    const isTrue = +(v === true);
    if (isTrue | +(v === false)) digit = word = FALSE + isTrue;
    else if (typeof v === "string") {
      if (step & APART) word = apartWord(details[steps[at + 1]! & DETAIL]!.constants, v, step);
      if (word !== MISSING) { /* It is one of the constants, or compared with constants only. */ }
      else if (v === u0) word = TEMPORARY;
      else if (u0 === undefined) { u0 = v; word = TEMPORARY; }
      else if (v === u1) word = TEMPORARY + 1;
      else if (u1 === undefined) { u1 = v; word = TEMPORARY + 1; }
      else if (v === u2) word = TEMPORARY + 2;
      else if (u2 === undefined) { u2 = v; word = TEMPORARY + 2; }
      else if (v === u3) word = TEMPORARY + 3;
      else if (u3 === undefined) { u3 = v; word = TEMPORARY + 3; }
      else word = laterWord((more ??= []), v);
      digit = word - STRINGS;
    } else if (typeof v === "number") {
      if (v - v !== 0) return UNSURE;
      numbers[slot] = v;
      word = NUMBER;
      digit = ODD;
    } else if (v === null) digit = word = NULL;
    else if (v !== undefined) {
      if (!isListOrMap(v)) return UNSURE;
      word = VALUE;
      digit = ODD;
    }
    words[slot] = word;
    key = (key << DIGIT) | digit;
  }
