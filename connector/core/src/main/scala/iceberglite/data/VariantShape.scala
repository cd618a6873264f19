package iceberglite.data

import java.util.{HashMap, HashSet, Locale}

import scala.collection.JavaConverters._
import scala.collection.mutable

import iceberglite.spec.types.{Literal, PrimitiveType}
import iceberglite.spec.types.Literal._
import iceberglite.spec.types.Type._

/** The parts of the variants of a column that a file stores in typed columns (Parquet: "Variant Shredding"). */
sealed private[iceberglite] trait VariantShape

private[iceberglite] object VariantShape {

  /** Values of one type. */
  final case class Values(t: PrimitiveType) extends VariantShape

  /** Objects. @param fields the fields in typed columns; other fields remain encoded */
  final case class Fields(fields: Vector[(String, VariantShape)]) extends VariantShape

  final case class Elements(element: VariantShape) extends VariantShape

  /** Returns the shape that suits most of a sample of variants; absent if their types are too different. */
  def of(sample: Seq[VariantNode]): Option[VariantShape] = new Inference().shape(sample, 0)

  /**
   * Returns a value as a value of the type of a column; absent if the column cannot contain it exactly. Integers of
   * different widths are equal.
   */
  def valueIn(t: PrimitiveType, value: Literal): Option[Literal] = (t, value) match {
    case (LongType, IntLiteral(v)) => Some(LongLiteral(v.toLong))
    case (IntType, LongLiteral(v)) if v == v.toInt => Some(IntLiteral(v.toInt))
    case (DecimalType(precision, scale), DecimalLiteral(v)) =>
      if (v.scale == scale && v.precision <= precision) Some(value) else None
    case (StringType, StringLiteral(text)) => if (text.indexOf('\uFFFD') >= 0) None else Some(value)
    case _ => if (value.dataType == t) Some(value) else None
  }

  /** The maximum number of typed columns for the variants of one column of the table. */
  private val MaxColumns = 100

  private val MaxDepth = 8

  private val MaxNameLength = 100

  private val DecimalPrecisions = Seq(9, 18, VariantNode.MaxDecimalDigits)

  /** What the values have in common that can be in one typed column. */
  sealed private trait Kind
  private case object Objects extends Kind
  private case object Arrays extends Kind
  private case object Integers extends Kind
  final private case class Decimals(scale: Int) extends Kind
  final private case class Others(t: PrimitiveType) extends Kind

  final private class Inference {
    private var columns = 0

    def shape(sample: Seq[VariantNode], depth: Int): Option[VariantShape] = {
      val known = sample.flatMap(node => kindOf(node).map(_ -> node))
      val byKind = known.groupBy(_._1).map { case (kind, pairs) => kind -> pairs.map(_._2) }
      if (byKind.isEmpty || depth > MaxDepth || columns >= MaxColumns) None
      else {
        val (kind, nodes) = byKind.maxBy(_._2.size)
        if (nodes.size * 2 < known.size) None else ofKind(kind, nodes, depth)
      }
    }

    private def ofKind(kind: Kind, nodes: Seq[VariantNode], depth: Int): Option[VariantShape] = kind match {
      case Objects => fields(nodes.collect { case VariantNode.Fields(fields) => fields }, depth)
      case Arrays => shape(nodes.collect { case VariantNode.Elements(elements) => elements }.flatten, depth + 1)
          .map(Elements(_))
      case Integers => values(if (literals(nodes).forall(valueIn(IntType, _).isDefined)) IntType else LongType)
      case Decimals(scale) =>
        val digits = literals(nodes).collect { case DecimalLiteral(v) => v.precision }.max
        values(DecimalType(DecimalPrecisions.find(_ >= math.max(digits, scale)).get, scale))
      case Others(t) => values(t)
    }

    private def values(t: PrimitiveType): Option[VariantShape] = {
      columns += 1
      Some(Values(t))
    }

    /** Returns the shape of objects. A field must be in at least a tenth of them. */
    private def fields(objects: Seq[Vector[(String, VariantNode)]], depth: Int): Option[VariantShape] = {
      val byName = new HashMap[String, mutable.ArrayBuffer[VariantNode]]
      for (fields <- objects; (name, value) <- fields if isColumnName(name))
        byName.computeIfAbsent(name, _ => mutable.ArrayBuffer.empty[VariantNode]) += value
      val frequent = byName.asScala.toVector.filter(_._2.size * 10 >= objects.size)
        .sortBy { case (name, values) => (-values.size, name) }
      val lowerCase = new HashSet[String]
      val shapes = frequent.filter(f => lowerCase.add(f._1.toLowerCase(Locale.ROOT))).flatMap { case (name, values) =>
        shape(values.toVector, depth + 1).map(name -> _)
      }
      if (shapes.isEmpty) None else Some(Fields(shapes.sortBy(_._1)))
    }
  }

  /** Whether a name can be that of a field in a file: Parquet's tools separate the names of a path by dots. */
  private def isColumnName(name: String): Boolean =
    name.nonEmpty && name.length <= MaxNameLength && !name.exists(c => c == '.' || Character.isISOControl(c))

  private def literals(nodes: Seq[VariantNode]): Seq[Literal] = nodes.flatMap {
    case VariantNode.Scalar(encoded) => VariantJson.literal(encoded)
    case _ => None
  }

  private def kindOf(node: VariantNode): Option[Kind] = node match {
    case VariantNode.Fields(_) => Some(Objects)
    case VariantNode.Elements(_) => Some(Arrays)
    case VariantNode.Scalar(encoded) => VariantJson.literal(encoded).flatMap {
        case IntLiteral(_) | LongLiteral(_) => Some(Integers)
        case DecimalLiteral(v) =>
          if (math.max(v.precision, v.scale) > VariantNode.MaxDecimalDigits) None else Some(Decimals(v.scale))
        case other => Some(Others(other.dataType))
      }
  }
}
