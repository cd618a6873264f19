package iceberglite.spec.property

/**
 * A CHECK constraint, which is stored as a table property. Only this connector enforces it.
 *
 * @param name the name as written in the statement; names that differ only in case are equal
 * @param expression the condition in SQL; a row satisfies the constraint unless the condition is false
 */
final case class CheckConstraint(name: String, expression: String) {
  def key: String = CheckConstraint.Prefix + name

  override def toString: String = s"$name ($expression)"
}

object CheckConstraint {

  /** The prefix of the property keys. A key is the prefix followed by the constraint's name. */
  val Prefix = "iceberg-lite.constraints."

  def isKey(key: String): Boolean = key.startsWith(Prefix)

  /** Returns the constraints in the properties of a table, by name. */
  def of(properties: Map[String, String]): Vector[CheckConstraint] =
    properties.iterator.collect { case (key, text) if isKey(key) => CheckConstraint(key.stripPrefix(Prefix), text) }
      .toVector.sortBy(_.name)

  /** Finds a constraint by its name, ignoring case. */
  def find(properties: Map[String, String], name: String): Option[CheckConstraint] =
    of(properties).find(_.name.equalsIgnoreCase(name))
}
