"""States and countries that may end an English address, as alternations of patterns."""

from __future__ import annotations

STATE_CODES = (
    "A[KLRZ]|C[AOT]|D[CE]|FL|GA|HI|I[ADLN]|K[SY]|LA|M[ADEINOST]|N[CDEHJMVY]|O[HKR]|PA|RI|S[CD]|T[NX]|UT|V[AT]|W[AIVY]"
    "|AB|BC|MB|NB|NL|NS|ON|PE|QC|SK|NSW|VIC|QLD|TAS|ACT"
)
"""Of the United States, Canada and Australia."""

STATES = (
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|District of Columbia|Florida"
    "|Georgia|Hawaii"
    "|Idaho|Illinois|Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi"
    "|Missouri|Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio"
    "|Oklahoma|Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Utah|Vermont|Virginia"
    "|Washington|West Virginia|Wisconsin|Wyoming|Ontario|Quebec|British Columbia|Alberta|Manitoba|Saskatchewan"
    "|Nova Scotia|New Brunswick|New South Wales|Victoria|Queensland|Tasmania"
)

COUNTRIES = (
    "United States of America|United States|USA|U\\.S\\.A\\.|United Kingdom|UK|U\\.K\\.|England|Scotland|Wales"
    "|Northern Ireland|Ireland|Canada|Australia|New Zealand|South Africa|India|Singapore|Malaysia|Philippines|Thailand"
    "|Vietnam|Indonesia|Japan|South Korea|Korea|China|P\\.?R\\.? China|Hong Kong|Macau|Macao|Taiwan|Germany|France"
    "|Spain|Portugal|Italy|Netherlands|Belgium|Luxembourg|Switzerland|Austria|Denmark|Norway|Sweden|Finland|Iceland"
    "|Greenland|Estonia|Latvia|Lithuania|Poland|Czech Republic|Czechia|Slovakia|Slovenia|Hungary|Romania|Bulgaria"
    "|Croatia|Serbia|Greece|Cyprus|Malta|Turkey|Israel|Egypt|Tunisia|Morocco|Nigeria|Kenya|Ghana|Brazil|Argentina|Chile"
    "|Uruguay|Mexico|Colombia|Peru|United Arab Emirates|Saudi Arabia|Qatar|Russia|Ukraine|Pakistan|Bangladesh|Sri Lanka"
)
