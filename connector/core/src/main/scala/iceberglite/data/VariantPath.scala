package iceberglite.data

import iceberglite.spec.IcebergError.InvalidArgument
import iceberglite.spec.expr.VariantPart

/** A path to a part of a variant, in the syntax of Spark 4's `variant_get`: `$.a['b c'][0]`. */
final private[iceberglite] case class VariantPath(steps: Vector[VariantPath.Step]) {

  /** Returns the part; absent if the variant has no such part. */
  def in(variant: VariantNode): Option[VariantNode] = steps.foldLeft(Option(variant)) {
    case (Some(VariantNode.Fields(fields)), VariantPath.Field(name)) => fields.find(_._1 == name).map(_._2)
    case (Some(VariantNode.Elements(elements)), VariantPath.Element(index)) => elements.lift(index)
    case _ => None
  }

  override def toString: String = steps.map {
    case VariantPath.Field(name) => VariantPart.stepOf(name)
    case VariantPath.Element(index) => s"[$index]"
  }.mkString("$", "", "")
}

private[iceberglite] object VariantPath {
  sealed trait Step
  final case class Field(name: String) extends Step
  final case class Element(index: Int) extends Step

  private val Name = """\.([^.\[]+)(.*)""".r
  private val Quoted = """\['([^']*)'\](.*)""".r
  private val DoubleQuoted = "\\[\"([^\"]*)\"\\](.*)".r
  private val Index = """\[(\d+)\](.*)""".r

  /** @throws InvalidArgument if the text is not a path */
  def parse(text: String): VariantPath = of(text).getOrElse(
    throw InvalidArgument("path", text, "It must be a path in a variant such as $.a.b, $['a b'] or $.list[0]")
  )

  /** Returns a path; absent if the text is not a path. */
  def of(text: String): Option[VariantPath] =
    if (text.startsWith("$")) steps(text.drop(1), Vector.empty).map(VariantPath(_)) else None

  @annotation.tailrec
  private def steps(rest: String, found: Vector[Step]): Option[Vector[Step]] = rest match {
    case "" => Some(found)
    case Name(name, next) => steps(next, found :+ Field(name))
    case Quoted(name, next) => steps(next, found :+ Field(name))
    case DoubleQuoted(name, next) => steps(next, found :+ Field(name))
    case Index(digits, next) if isInt(digits) => steps(next, found :+ Element(digits.toInt))
    case _ => None
  }

  /** Whether digits are at most `Int.MaxValue`, in a time that is linear in their number. */
  private def isInt(digits: String): Boolean = {
    val significant = digits.dropWhile(_ == '0')
    significant.length < 10 || significant.length == 10 && significant.toLong <= Int.MaxValue
  }
}
