"""Chinese words beside which a name stands: honorifics, roles, and the labels of forms."""

from __future__ import annotations

_TITLES = "老师 教授 博士 医生 医师 律师 法官 院士 同学"
_OFFICES = "总经理 董事长 总裁 行长 总监 主任 经理"
_PERSONS = (
    "联系 收件 寄件 收货 发件 发货 经办 负责 委托 受托 被授权 申请 投保 被保险 受益 借款 出借 担保 保证 持卡 开户 签字"
    " 签署 承租 出租 审核 复核 批准 审批 制表 编制 填表 填报 报告 汇款 收款 付款 取款 存款 交易 代办 代理 报案 举报"
    " 投诉 推荐 介绍 证明 见证 监护 继承 当事 紧急联系 持有 联络 接待"
)
_LABELS = (
    "客户姓名 姓名 户名 法定代表人 法人代表 法人 授权代表 签名 签字 客户 甲方 乙方 买方 卖方 原告 被告 患者 户主 股东"
    " 主治医师 值班员 操作员 记录员 Name Contact Attn Customer Client name contact"
)
_ROLES = (
    "主管 院长 校长 处长 科长 局长 部长 董事会秘书 董秘 独立董事 监事会主席 首席执行官 首席财务官 首席运营官"
    " 首席技术官 首席风险官 注册会计师 会计师 分析师 研究员 理财师 顾问 律师 医生 医师 教授 柜员 员工 同事 秘书"
    " 专员 助理 会计 出纳 业务员 销售员 保荐代表人 经办员 复核员 责任人 店长 组长 护士 护士长 司机 快递员"
    " 客户代表 驾驶员 押运员 记者 通讯员 审判长 审判员 书记员 公证员 陪审员 仲裁员 被执行人 申请执行人 被告人"
    " 嫌疑人 上诉人 被上诉人 房东 船长 机长 队长 教练 导师 博士生 研究生 实际控制人 转让方 受让方 全名 真名"
    " 主治医师 证人 股东 患者 姓名 讲师 监事 董事 合伙人 创始人 总工程师 工程师 设计师 程序员 营业员 信贷员"
    " 审计员 核保员 理赔员 查勘员 我叫 我是 本人 署名 客服 委托代理人"
)

PLAIN_HONORIFICS = frozenset({"先生", "女士", "小姐", "太太", "夫人", "同志"})
"""Stand behind names and little else."""
TITLES = frozenset(_TITLES.split())
"""Stand behind names, and behind other words."""
OFFICES = frozenset(_OFFICES.split())
"""Stand behind names and before them."""
LABELS = frozenset([*(f"{word}人" for word in _PERSONS.split()), *_LABELS.split()])
"""Stand before a name with a colon, a space or 为 between."""
ROLES = frozenset([*OFFICES, *_ROLES.split()])
"""Stand before a name, also without anything between."""
