//! The names that `\p{..}` may have, in lower case and without separators.
//!
//! From the Unicode Character Database 15.0 (`PropertyValueAliases.txt`): all names of general
//! categories, and the long names of scripts. The short names of scripts (`Latn`) are left out on
//! purpose: RE2 does not know them.

/// Returns true if a general category has that name, surrogates and their parent aside.
pub(super) fn is_category(name: &str) -> bool {
    CATEGORIES.split(' ').any(|known| known == name)
}

/// Returns true if a script has that name.
pub(super) fn is_script(name: &str) -> bool {
    SCRIPTS.split(' ').any(|known| known == name)
}

const CATEGORIES: &str = "\
    casedletter cc cf closepunctuation cn cntrl co combiningmark connectorpunctuation \
    control currencysymbol dashpunctuation decimalnumber digit enclosingmark \
    finalpunctuation format initialpunctuation l lc letter letternumber lineseparator ll lm \
    lo lowercaseletter lt lu m mark mathsymbol mc me mn modifierletter modifiersymbol n nd \
    nl no nonspacingmark number openpunctuation otherletter othernumber otherpunctuation \
    othersymbol p paragraphseparator pc pd pe pf pi po privateuse ps punct punctuation s sc \
    separator sk sm so spaceseparator spacingmark symbol titlecaseletter unassigned \
    uppercaseletter z zl zp zs";

const SCRIPTS: &str = "\
    adlam ahom anatolianhieroglyphs arabic armenian avestan balinese bamum bassavah batak \
    bengali bhaiksuki bopomofo brahmi braille buginese buhid canadianaboriginal carian \
    caucasianalbanian chakma cham cherokee chorasmian common coptic cuneiform cypriot \
    cyprominoan cyrillic deseret devanagari divesakuru dogra duployan egyptianhieroglyphs \
    elbasan elymaic ethiopic georgian glagolitic gothic grantha greek gujarati gunjalagondi \
    gurmukhi han hangul hanifirohingya hanunoo hatran hebrew hiragana imperialaramaic \
    inherited inscriptionalpahlavi inscriptionalparthian javanese kaithi kannada katakana \
    kawi kayahli kharoshthi khitansmallscript khmer khojki khudawadi lao latin lepcha limbu \
    lineara linearb lisu lycian lydian mahajani makasar malayalam mandaic manichaean marchen \
    masaramgondi medefaidrin meeteimayek mendekikakui meroiticcursive meroitichieroglyphs \
    miao modi mongolian mro multani myanmar nabataean nagmundari nandinagari newa newtailue \
    nko nushu nyiakengpuachuehmong ogham olchiki oldhungarian olditalic oldnortharabian \
    oldpermic oldpersian oldsogdian oldsoutharabian oldturkic olduyghur oriya osage osmanya \
    pahawhhmong palmyrene paucinhau phagspa phoenician psalterpahlavi rejang runic samaritan \
    saurashtra sharada shavian siddham signwriting sinhala sogdian sorasompeng soyombo \
    sundanese sylotinagri syriac tagalog tagbanwa taile taitham taiviet takri tamil tangsa \
    tangut telugu thaana thai tibetan tifinagh tirhuta toto ugaritic vai vithkuqi wancho \
    warangciti yezidi yi zanabazarsquare";
