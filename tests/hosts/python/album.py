import json
import sys
import time

from pdp import Code, Pdp, signed_by

component, bundle, key = sys.argv[1:]
code = Code(open(component, "rb").read())
pdp = Pdp(code, open(bundle, "rb").read(), signed_by(json.load(open(key))), now=int(time.time()))
resource = {"kind": "album", "id": "a", "attr": {"owner": "ada"}}
for name in ["ada", "bob"]:
    principal = {"id": name, "roles": ["member"]}
    request = json.dumps({"principal": principal, "action": "view", "resource": resource})
    print(name, pdp.is_allowed(request, int(time.time())))
