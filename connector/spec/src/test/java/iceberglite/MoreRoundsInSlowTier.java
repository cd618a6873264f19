package iceberglite;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.scalatest.TagAnnotation;

/**
 * Marks a suite whose tests repeat their checks in random rounds. The fast tier runs fewer rounds of these tests than
 * the slow tier (see {@link Fuzz}). If a run contains both tiers, only its slow tier runs these tests.
 */
@TagAnnotation
@Inherited
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
public @interface MoreRoundsInSlowTier {}
