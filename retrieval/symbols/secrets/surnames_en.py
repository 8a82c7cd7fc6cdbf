"""Chinese surnames in Latin letters: Ms Lee alone names nobody, as 李女士 does not."""

from __future__ import annotations

_PINYIN = (
    "wang li zhang liu chen yang zhao huang zhou wu xu sun hu zhu gao lin he guo ma luo liang song zheng xie han"
    " tang feng"
    " yu dong xiao cheng cao yuan deng fu shen zeng peng lu su jiang cai jia ding wei xue ye yan pan du dai xia"
    " zhong tian"
    " ren fan fang shi yao tan liao zou xiong jin hao kong bai cui kang mao qiu qin jiang gu hou shao meng long"
    " wan duan lei"
    " qian yin yi chang qiao lai gong wen pang lan shu ni niu ji ruan ge tong ouyang"
)
_OTHER = (
    "lee wong chan cheung lau leung ng chow choi chiu chu fung ho hui ip kwan kwok kwong lam lui mak mok ngai"
    " poon siu tam"
    " tang tsang tse tsui yeung yip yiu yuen yung chung hung hwang chiang chao hsu hsieh tsai tseng chou kuo liao"
    " teng tung"
)
SURNAMES = frozenset([*_PINYIN.split(), *_OTHER.split()])
"""In small letters: Hanyu Pinyin, and how they are written in Hong Kong and Taiwan."""
