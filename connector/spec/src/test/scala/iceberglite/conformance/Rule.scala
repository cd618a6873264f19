package iceberglite.conformance

import org.scalatest.Tag

/**
 * One rule of the specification. Tests that verify the rule have it as a tag: `test("...", PartitionRules.bucketSign)`;
 * Python tests and SQL scenarios refer to it as `proves: partitions/bucket-masks-sign`.
 *
 * @param id the name of the rule book and the name of the rule: `book/rule`
 * @param section the section of the specification that contains the rule. `(adopted version 3)` means the text of
 *   version 3 that the Iceberg community adopted by vote, which differs from earlier drafts.
 * @param sentence the rule, as one or two sentences that do not quote the specification
 * @param implementedIn the files that implement the rule, starting with their project: `spec/partition/Bucket.scala`
 *   means `connector/spec/src/main/scala/iceberglite/spec/partition/Bucket.scala`
 */
final class Rule(val id: String, val section: String, val sentence: String, val implementedIn: Seq[String])
    extends Tag(id)

/** The rules of one part of the specification. */
abstract class RuleBook(val name: String, val title: String) {
  private var declared = Vector.empty[Rule]

  def rules: Vector[Rule] = declared

  protected def rule(id: String, section: String, sentence: String)(implementedIn: String*): Rule = {
    val newRule = new Rule(s"$name/$id", section, sentence, implementedIn)
    declared :+= newRule
    newRule
  }
}
