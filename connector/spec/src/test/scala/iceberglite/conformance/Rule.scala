package iceberglite.conformance

import org.scalatest.Tag

/**
 * One rule of the specification. A test that shows it bears it as a tag: `test("...", PartitionRules.bucketMasksSign)`;
 * Python tests and SQL scenarios name it as `proves: partitions/bucket-masks-sign`.
 *
 * @param id `book/rule`
 * @param section where the specification says it
 * @param sentence the rule, in our words
 * @param implementedIn the files below `connector/` that implement it, from the project on:
 *   `spec/transform/Bucket.scala` stands for `connector/spec/src/main/scala/iceberglite/spec/transform/Bucket.scala`
 */
final class Rule(val id: String, val section: String, val sentence: String, val implementedIn: Seq[String])
    extends Tag(id)

/** The rules of one part of the specification. */
abstract class RuleBook(val name: String, val title: String) {
  private var declared = Vector.empty[Rule]

  def rules: Vector[Rule] = declared

  protected def rule(id: String, section: String, sentence: String)(implementedIn: String*): Rule = {
    val made = new Rule(s"$name/$id", section, sentence, implementedIn)
    declared :+= made
    made
  }
}
