package iceberglite.spec.property

/**
 * A member of the fixed list of values of a table property.
 *
 * @param name the name in messages and in new metadata
 * @param aliases further accepted spellings
 */
abstract class NamedValue private[property] (val name: String, aliases: String*) extends Serializable {

  /** All accepted spellings. Case is ignored. */
  final def names: Seq[String] = name +: aliases

  final override def toString: String = name
}

private[property] object NamedValue {

  /** Returns the member that has the spelling `text`, ignoring case; absent if no member has it. */
  def parse[A <: NamedValue](values: Seq[A], text: String): Option[A] =
    values.find(_.names.exists(_.equalsIgnoreCase(text)))

  def expected(values: Seq[NamedValue]): String = s"It must be one of ${values.flatMap(_.names).mkString(", ")}"
}
