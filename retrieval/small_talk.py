"""Small talk and everyday requests that no document answers, told by their wording. Pure and linear.

Clauses that are small talk as a whole (greetings, thanks, moods, questions about the one who answers) make small
talk of a text only when it holds nothing else; a request for a joke, a poem, a translation or the weather does
so wherever it stands.
"""

from __future__ import annotations

import re

_LONGEST = 120
_EN_WHOLE = r"""
    h+i+(?:ya)? | he+l+o+ | hey+ | yo+ | howdy | hiya | sup
    | (?:hi|hello|hey|good\ (?:morning|afternoon|evening|night|day)|greetings|welcome(?:\ back)?)
      (?:\ (?:there|everyone|everybody|all|again|friends?|team|folks|guys|my\ friend))*
    | how\ (?:are|r)\ (?:you|u)(?:\ doing)?(?:\ today)? | how(?:'s|\ is|s)\ (?:it\ going|life
    |your\ day)(?:\ (?:going|today|so\ far))*
    | what'?s\ up | nice\ to\ (?:meet|see)\ you | (?:it's\ been\ a\ )?long\ time(?:,?\ no\ see)?
    | (?:happy|merry)\ (?:new\ year|birthday|holidays?|christmas|easter|weekend|friday|monday)
    | is\ (?:any(?:body|one)|someone)\ (?:there|here) | (?:are\ you|anybody|anyone)\ (?:there|here|awake|home)
    | (?:ok(?:ay)?\ )?(?:great\ )?(?:many\ |so\ many\ )?(?:thanks?|thx|ty|tysm|cheers)
      (?:\ (?:you|u|so|very|much|a\ lot|a\ million|a\ bunch|again|for\ .{1,30}|everyone|mate))*
    | (?:very\ |much\ |really\ )*appreciated?(?:\ it)? | i\ (?:really\ )?appreciate\ (?:it|that|your\ help)
    | that\ (?:helped|helps|was\ helpful|was\ great|is\ great|is\ it|is\ all)(?:\ (?:me|a\ lot
    |very\ much))* | that'?s\ (?:it|all|great|cool|funny|fine|nice|hilarious)
    | (?:you(?:'re|\ are|r)|ur)\ (?:so\ |very\ |really\ )*(?:the\ best|welcome|great|awesome|stupid|dumb
    |smart|funny|nice|cute|right|wrong|amazing|an?\ \w+)
    | (?:good)?bye(?:\ bye)?(?:\ for\ now)? | see\ (?:you|ya|u)(?:\ (?:later|soon|tomorrow|around|then
    |next\ week|on\ monday))? | (?:talk|catch\ you|ttyl)(?:\ to\ you)?(?:\ (?:later|soon))?
    | (?:i(?:'ve|\ have)?\ )?(?:gotta|got\ to|have\ to|need\ to|must)\ (?:go|run|leave)(?:\ now)?
    | sleep\ (?:well|tight) | sweet\ dreams | take\ care | have\ a\ (?:good|nice|great)\ \w+
    | (?:hm+|um+|uh+|oh+|ah+|wow|aw+)(?:\ (?:ok|okay|i\ see|right))? | ok(?:ay)?(?:\ (?:then|great|cool
    |got\ it))? | (?:a*(?:ha)+h?|lo+l|lmao|rofl|he(?:he)+)(?:\ .{0,20})?
    | yes | yep | yeah | no | nope | nah | no\ way | really | sure | great | cool | awesome | perfect
    | nice(?:\ one)? | well\ done | good\ (?:job|work|one|point)
    | (?:sounds|looks)\ (?:good|great|fine|fun)(?:\ to\ me)? | i\ see | got\ it | fair\ enough
    | never\ ?mind | forget\ (?:it|that|about\ it) | no\ (?:problem|worries) | sorry | my\ bad
    | test(?:ing)?
    | (?:and\ |so\ )?(?:who|what)\ (?:exactly\ )?are\ (?:you|u) | what(?:'s|s|\ is)\ (?:your
    |ur)\ (?:\w+\ ){0,2}(?:name|age|colou?r|food|movie|film|song|book|animal|hobby|job|purpose|number
    |sign)(?:\ again)?
    | (?:are|r)\ (?:you|u)\ .{1,40} | who\ (?:made|created|built|trained|designed|owns|developed)\ (?:you|u)
    | how\ old\ are\ (?:you|u) | if\ i\ may\ ask | where\ (?:are\ you\ from|do\ you\ (?:live|come\ from))
    | what\ can\ (?:you|u)\ (?:do|help)(?:\ (?:me|for\ me))?(?:\ with)?
    | (?:which|what)\ (?:\w+\ ){0,2}(?:model|llm|ai)\ (?:do\ you\ use|are\ you(?:\ (?:based\ on|using))?
    |is\ this)
    | (?:can|do|could)\ (?:you|u)\ (?:ever\ |really\ |also\ )?(?:speak|understand|sleep|eat|dream|feel|think
    |love|like|hate|know\ me|remember\ me|have|get|believe|sing|dance|think\ i'?m)\b.{0,40}
    | i(?:'m|\ am|m)\ (?:feeling\ |so\ |really\ |very\ |a\ bit\ |kind\ of\ )*(?:sad|happy|bored|tired|lonely
    |angry|upset|sleepy|hungry|excited|depressed|stressed|down|sick|fine|good|great|ok|okay|back|here
    |confused)(?:\ (?:today|now|again|and\ \w+))*
    | i\ (?:love|hate|miss|like)\ (?:you|u|it|mondays?|this) | i\ can'?t\ (?:sleep|stop\ laughing|wait)
    | what\ should\ i\ do
    | my\ (?:girlfriend|boyfriend|wife|husband|crush|cat|dog|friend)\b.{0,30} | (?:it(?:'s
    |\ is)\ )?(?:my\ birthday|friday|the\ weekend|monday)(?:\ (?:today|tomorrow|again))? | (?:finally
    |thank\ god\ it'?s)\ (?:friday|the\ weekend)
    | i\ (?:really\ )?(?:need|want|could\ use)\ (?:a|some)\ (?:coffee|beer|hug|break|nap|drink|friend
    |vacation)(?:\ .{0,12})? | let(?:'s|\ us)\ (?:chat|talk|play\b.{0,30}|hang\ out)
"""
_ZH_WHOLE = r"""
    (?:你好|您好|哈[喽啰罗]|嗨+|嘿+|喂+|hi|hello|hey)(?:[啊呀吗呐哦]|你好|大家)* | (?:大家|各位|同学们
    |朋友们)(?:好|(?:早上|上午|中午|下午|晚上)好)
    | (?:早上?|上午|中午|下午|晚上|周[一二三四五六日末])+(?:好|快乐|愉快)[呀啊]? | 早+[呀啊]? | 早安 | 晚安
    | 午安 | .{0,4}(?:新年|春节|节日|生日|中秋|元旦|圣诞|周末)(?:快乐|愉快)
    | 好久不见 | (?:请问)?(?:有人)?(?:在吗|在么|在不在|在不|在嘛|有人吗|有人在吗) | 又要上班了?
    | (?:太|非常|十分|真的?|好的?|万分)*(?:谢谢|感谢|多谢|谢啦|谢了|thx|thanks)(?:[你您啦了哦呀]|大家
    |你的帮助|您的帮助|帮忙)* | 辛苦[你您啦了]* | 麻烦[你您]了 | 早点休息 | 不客气 | 不用谢
    | 再见[啦了]? | 拜拜[啦了]? | 8{2,} | (?:明天|下次|回头|改天|待会|一会儿?|晚点)(?:见|聊|再聊|再见|说
    |再说) | 我?(?:先)?(?:下线|走|撤|睡|忙|去忙)(?:了|啦)+ | 做个好梦 | 好梦
    | [哈呵嘿嘻]+ | [嗯哦啊噢额呃唔]+ | (?:好|行|可以|没问题|ok|OK|好的|知道|明白|了解|收到
    |懂)[的吧呀啊了啦嘞]* | 那?就?(?:这样|先这样)(?:吧|了)? | 没事[了啦]? | (?:当|就当)我没(?:问|说) | 算了
    | 对不起 | 抱歉
    | 你?说(?:得|的)(?:很|真|太)?(?:对|好|是|有道理) | 真的[吗假的么]* | (?:你|您)?(?:真|好|太|很|可真
    |也太)(?:棒|好|厉害|聪明|笨|可爱|蠢|搞笑|有趣|牛|赞|强|差劲|烦)[了啊呀]? | 厉害[了啊]? | 不错 | 加油
    | (?:你|您)(?:到底)?是(?:谁|什么|不是|真人|人|机器人|AI|ＡＩ|哪位|什么东西|哪个模型).{0,14} | (?:你
    |您)(?:叫|的名字是?)(?:什么|啥)(?:名字)?(?:来着|呀|啊)? | 是谁?(?:谁|哪家公司)?(?:开发|创造|制造|训练
    |设计|发明)了?(?:你|您|出你)(?:的|来的)?
    | (?:谁|哪家公司)(?:开发|创造|制造|训练|设计|发明|做)(?:了|出)?(?:你|您)(?:的|来的)? | (?:你|您)(?:用
    |使用|基于|背后)的?(?:是)?(?:什么|哪个|啥).{0,6}模型[呀啊]?
    | (?:你|您)(?:今年)?(?:多大|几岁|多少岁)[了啦呀]* | (?:你|您)(?:有|会不会|会|能|懂|喜欢|讨厌|爱|想|怕|吃
    |睡|累|困|饿|觉得我|还记得我|认识我|在干|今天|最近|过得|心情|家在|住在|来自|是男|单身)(?!.{0,12}(?:申请
    |报销|制度|规定|公司|客户|产品|基金|合同|流程)).{0,12}
    | (?:你|您)(?:能|可以|会)(?:帮我)?(?:做|干)?(?:些|点)?(?:什么|啥)(?:事|呢)? | (?:最近|今天
    |这几天)?过得?(?:怎么样|好吗|还好吗|如何) | 吃(?:饭)?了(?:吗|么|没)
    | (?:我|今天|我今天|最近|好|真|有点|有些|感觉|心情|太|很|特别|好像|都|快|要|死|是|又)*(?:难过|伤心|开心
    |高兴|无聊|郁闷|孤独|寂寞|生气|累|困|饿|烦|失恋|失眠|想哭|心情(?:好|很|真|不)?(?:差|好|不好|糟
    |糟糕))(?:死|坏|极|透|得很|啊|了|呀|啦|哦)*
    | 我?(?:好|很|真|太|最|超)?(?:爱|喜欢|想|讨厌)你[了啦呀]? | (?:我的?|他|她)?(?:今天|明天
    |后天)?(?:是我)?(?:的)?生日(?:快到|到|要到)?[了啦]* | (?:周末|周五|假期)?(?:终于|总算)(?:到|来|放假|下班
    |周五|周末)了? | 想(?:喝|吃|睡|玩).{1,6} | 陪我?(?:聊|玩|说).{0,6} | (?:工作|学习|生活)?压力(?:好|太
    |很)?大(?:了|啊)?(?:怎么办)? | 怎么办
"""
_EN_INSIDE = r"""
    \b(?:tell|know|give|got|have|say|share|heard)\b.{0,15}\b(?:jokes?|riddles?|funny|fun\ facts?|puns?
    |(?:bedtime|scary|short)\ story) | \bmake\ me\ laugh\b | \bknock\ knock\b | \bchicken\ cross\b
    | \b(?:write|compose|recite|sing|make\ up|create|invent)\b.{0,20}\b(?:poems?|songs?|haikus?|limericks?
    |lullab(?:y|ies)|love\ letter|fairy\ tale|sonnet|rap|lyrics)\b | \bsing\ me\b
    | \b(?:write|give\ me|create)\b.{0,20}\b(?:python|javascript|java|c\+\+|sql|bash|html|css|regex|rust
    |golang)\b | \b(?:in|with)\ (?:css|html|javascript|python|c\+\+)$
    | \btranslate\b.{0,60}\b(?:to|into|in)\b | ^(?:please\ )?translate\b | \bhow\ (?:do|would|can)\ (?:you|i
    |we)\ say\b.{1,40}\bin\ \w+ | \bsay\b.{1,30}\bin\ (?:spanish|french|german|japanese|chinese|italian
    |korean|russian|english)\b
    | \b(?:what(?:'s|s|\ is)|how(?:'s|s|\ is))\ the\ (?:weather|temperature\ outside) | \b(?:will
    |is)\ it\ (?:going\ to\ )?(?:rain|snow|be\ (?:hot|cold|sunny)|raining|snowing)\b
    | \bneed\ an?\ umbrella\b | \bweather\ forecast\b
    | \b(?:flip|toss)\ a\ coin\b | \broll\ (?:a|the|some|two)\ di[ce]e?\b | \bmeaning\ of\ life\b
    | \bwhat\ time\ is\ it\b | \bwhat\ day\ (?:of\ the\ week\ )?is\ (?:it|today)\b | \bwhat(?:'s|s
    |\ is)\ (?:today'?s\ date|the\ date(?:\ today)?)\b
    | \bhow\ (?:many\ days|long)\ (?:until|till|to)\ (?:christmas|new\ year|halloween|easter
    |my\ birthday)\b | \b(?:set|start)\ (?:an?\ |the\ )?(?:alarm|timer|reminder)\b
    | \bpick\ a\ (?:random\ )?(?:number|card)\b | \bplay\ (?:a\ game|music|some\ music)\b
    | \b(?:recommend|suggest)\b.{0,25}\b(?:movies?|films?|songs?|novels?|names?|restaurants?|recipes?
    |tv\ shows?)\b | \bwhat\ should\ i\ (?:cook|eat|wear|watch)\b | \bdo\ you\ (?:love|like|hate
    |have)\ (?:me|pets?|a\ (?:dog|cat))\b
"""
_ZH_INSIDE = r"""
    (?:讲|说|来|给我|会|听).{0,6}(?:笑话|段子|故事|谜语|绕口令|脑筋急转弯|相声) | 逗我.{0,2}(?:笑|开心|乐)
    | (?:写|作|来|编|赋|背).{0,8}(?:诗|首歌|歌词|绝句|律诗|对联|情书|童话|小说|散文|情诗|藏头诗) | ^(?:你|请
    |快|再|给我|来)*唱.{0,4}歌
    | (?:写|给我|实现).{0,12}(?:Python|JavaScript|Java|C\+\+|SQL|代码|脚本|正则|快速排序|冒泡)
    | 翻译[：:成为一]? | 用?(?:英语|日语|法语|德语|韩语|俄语|西班牙语|英文|日文)(?:里|中)?(?:怎么|如何)(?:说
    |讲|写)
    | (?:今天|明天|后天|现在|外面|周末|今晚).{0,6}(?:天气|气温|下雨|下雪|几度|冷不冷|热不热)
    | 外面.{0,4}(?:冷|热) | 天气(?:怎么样|如何|预报) | 带伞 | 现在几点 | (?:今天|明天)(?:是)?(?:几号|星期几
    |周几|礼拜几) | 离.{1,6}还有(?:多少|几)天
    | 定个?.{0,8}闹钟 | (?:抛|掷|扔)(?:个|一个|一枚)?(?:硬币|骰子) | 成语接龙 | 猜(?:个|一个|一猜)?(?:谜语
    |灯谜) | 玩.{0,4}游戏 | 随便(?:说|选|想|给).{0,4}(?:数|个) | 人生的意义 | 起个?.{0,6}名字?
    | 推荐.{0,8}(?:电影|歌|小说|电视剧|餐厅|菜|剧) | (?:今晚|中午|晚上|早上|今天)吃(?:什么|啥)
"""
_FLAGS = re.IGNORECASE | re.VERBOSE
_WHOLE = re.compile(f"(?:{_EN_WHOLE} | {_ZH_WHOLE})", _FLAGS)
_INSIDE = re.compile(f"(?:{_EN_INSIDE} | {_ZH_INSIDE})", _FLAGS)
_CUT = re.compile(r"\s*[,.!?;:，。！？；：～~…、]+\s*")
_WORDS_OR_SIGNS = re.compile(r"\w")


def is_small_talk(text: str) -> bool:
    """Tell whether a folded text (NFKC) is small talk or an everyday request; text without a word is."""
    if len(text) > _LONGEST:
        return False
    bare = "".join(c if c.isalnum() or c in " ,.!?;:，。！？；：～~…、'\"+“”" else " " for c in text.replace("’", "'"))
    bare = " ".join(bare.split())
    clauses = [clause for clause in (part.strip(" '\"“”+") for part in _CUT.split(bare)) if clause]
    if not clauses:
        return _WORDS_OR_SIGNS.search(text) is None
    return all(_WHOLE.fullmatch(clause) for clause in clauses) or _INSIDE.search(bare) is not None
